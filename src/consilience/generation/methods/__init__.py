"""The generation methods, by the names that `generate` and the command line know them by."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from consilience.generation.methods.graph import Graph
from consilience.generation.methods.hdbscan_and_gaussian import Density, Gaussian
from consilience.generation.methods.landmarks import Landmarks, Metrics
from consilience.generation.methods.linkage_genie_layers import Average, Genie, Layers, Ward
from consilience.generation.methods.pca import PCA, ComponentLandmarks, Reduced
from consilience.generation.methods.random_kmeans import Features, Minima, Objects, Zipf
from consilience.generation.methods.spectral import Spectral
from consilience.generation.plan import METHODS as METHODS

# Open: what is entered here from outside is known to generate, the command line and the explorer at once.
METHODS |= {
    "zipf": Zipf(),
    "pca": PCA(),
    "minima": Minima(),
    "features": Features(),
    "objects": Objects(),
    "spectral": Spectral(),
    "reduced": Reduced(),
    "components": ComponentLandmarks(),
    "landmarks": Landmarks(),
    "metrics": Metrics(),
    "density": Density(),
    "gaussian": Gaussian(),
    "graph": Graph(),
    "average": Average(),
    "ward": Ward(),
    "genie": Genie(),
    "layers": Layers(),
}


def describe(row: Mapping[str, Any]) -> str:
    """How a clustering was made, in words, from its row of `info`; its method's name where that is not registered."""
    cells = {str(name): value for name, value in dict(row).items()}
    name = cells.get("method")
    if not isinstance(name, str) or name not in METHODS:
        return "" if name is None or (np.ndim(name) == 0 and pd.isna(name)) else str(name)
    try:
        words = METHODS[name].describe(cells)
    except (KeyError, TypeError, ValueError):  # the row does not have what the method once wrote
        words = name
    around: Any = cells.get("around")
    return words if pd.isna(around) else f"{words}; weights varied around clustering {int(around)}"
