"""The colors of the whole project: pictures, reports and the explorer's page (`palette.js` has the same list).

The first six are Okabe and Ito's. The others were searched for the largest least distance from each other, seen as they are and as
people without one of the three kinds of cones see them; grey is left for what has no label.
"""

from __future__ import annotations

from typing import Any

from consilience._types import Array, Ints

PALETTE = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#850344", "#26E085", "#7348E2", "#1035C2"),
    *("#661091", "#416407", "#1A4D68", "#B91A96", "#9980FE", "#81555B", "#C11435", "#D3D316", "#96AE7F", "#27E3FD"),
)
MARKERS = "o^sDv"  # beyond twenty the colors come again with another marker
UNLABELED = "#c4cad1"
QUIET, ACCENT = "#7b8794", "#d9480f"  # lines that only help, and what must not be overlooked
NEARLY_BLACK, NEARLY_WHITE = "#010101", "#fefefe"  # text on a colored ground, which a dark page does not invert


def color_of(number: int) -> str:
    """Color of a cluster (from 0) or, with its number less one, of a group of clusterings.

    Examples
    --------
    >>> color_of(0) == color_of(20), color_of(-1)
    (True, '#c4cad1')
    """
    return UNLABELED if number < 0 else PALETTE[number % len(PALETTE)]


def slots_of(labels: Array, reference: Array) -> Ints:
    """For every cluster the number of the reference cluster that it overlaps most, one to one; others have the next numbers.

    Examples
    --------
    >>> import numpy as np
    >>> slots_of(np.array([0, 0, 1, 1, 2]), np.array([1, 1, 0, 0, 0])).tolist()
    [1, 0, 2]
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    from consilience.measures import contingency

    k, r = int(labels.max(initial=-1)) + 1, int(reference.max(initial=-1)) + 1
    if not k or not r:
        return np.arange(k)
    # Every code once more, beside a missing one: it counts nothing and gives the table a row and a column for each.
    mine = np.concatenate([labels, np.arange(k), np.full(r, -1)])
    overlap = contingency(mine, np.concatenate([reference, np.full(k, -1), np.arange(r)]))
    slots = np.full(k, -1, np.int64)
    rows, columns = linear_sum_assignment(overlap, maximize=True)
    slots[rows] = columns
    slots[slots < 0] = r + np.arange(np.count_nonzero(slots < 0))
    return slots


def marker_of(number: int) -> str:
    """Marker of a cluster or group: tells those apart that share a color."""
    return "." if number < 0 else MARKERS[number // len(PALETTE) % len(MARKERS)]


def ink_on(color: str) -> str:
    """Black or white, whichever can be read on a color."""
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return NEARLY_BLACK if 0.3 * red + 0.59 * green + 0.11 * blue > 105 else NEARLY_WHITE


def score_colors() -> Any:
    """Colors of a score: yellow is low and blue is high; both ends can be seen on white and on black."""
    import numpy as np
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["viridis_r"](np.linspace(0.06, 0.72, 256)))
