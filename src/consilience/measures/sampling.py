"""The one sample of objects on which scores of large data are computed, so that two places never show two numbers."""

from __future__ import annotations

import numpy as np

from consilience._run.random import stream
from consilience._types import Ints

WHOLE, SAMPLED = 5000, 2000  # objects up to which all are looked at; beyond, how many are


def sample_objects(n_objects: int, most: int | None = None) -> Ints:
    """Numbers of the objects that scores are computed on, in order: all up to 5,000, and beyond the same 2,000 for everyone.

    Parameters
    ----------
    n_objects : int
    most : int, optional
        No more than so many: the first of the same random order.

    Examples
    --------
    >>> from consilience.measures import sample_objects
    >>> sample_objects(4).tolist(), len(sample_objects(5000)), len(sample_objects(5001)), len(sample_objects(5001, 100))
    ([0, 1, 2, 3], 5000, 2000, 100)
    """
    size = n_objects if n_objects <= WHOLE else SAMPLED
    size = size if most is None else min(size, most)
    if size == n_objects:
        return np.arange(n_objects)
    return np.sort(stream(0, "measures.sample").permutation(n_objects)[:size])
