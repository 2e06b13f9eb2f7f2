"""The one sample of objects that scores of large data are computed on."""

from __future__ import annotations

import numpy as np

from consilience._random import stream
from consilience._types import Ints

WHOLE, SAMPLE = 5000, 2000  # objects up to which all are taken; beyond, how many are drawn


def sample_objects(n_objects: int) -> Ints:
    """The objects that scores over all pairs are taken of, in order: all, or beyond 5,000 the same 2,000 everywhere.

    Examples
    --------
    >>> from consilience.measures import sample_objects
    >>> len(sample_objects(5000)), len(sample_objects(5001))
    (5000, 2000)
    """
    if n_objects <= WHOLE:
        return np.arange(n_objects)
    return np.sort(stream(0, "measures.sample").permutation(n_objects)[:SAMPLE])
