"""The types that signatures share."""

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Labels: TypeAlias = NDArray[np.int32]  # codes 0 … k − 1 of clusters; −1 is missing
Array: TypeAlias = NDArray[Any]

PathLike: TypeAlias = str | os.PathLike[str]
ArrayLike: TypeAlias = Any  # array, sparse matrix, data frame of any library, list of rows
LabelsLike: TypeAlias = Any  # one clustering: a vector of any hashable labels
EnsembleLike: TypeAlias = Any  # Ensemble, or what one is made from: path, folder, frame, array, AnnData, result
Columns: TypeAlias = str | int | Sequence[str | int] | None  # names, patterns or positions of columns
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None
