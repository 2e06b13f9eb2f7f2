"""Measures that match clusters to classes. Objects missing in either are left out; if none is left the value is NaN."""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from consilience._check import InputError, check_choice
from consilience._types import Floats, Ints
from consilience.measures.counts import KNOWN, LARGEST, cells


def accuracy(known: Any, labels: Any) -> float:
    """Share of objects in the plurality class of their cluster (Caruana et al. 2006, Eq. 4; also called purity).

    With as many clusters as classes this is the clustering accuracy of Bekkerman et al. 2009. It is 1 when every
    object is its own cluster, so compare only clusterings with equally many clusters.

    Examples
    --------
    >>> from consilience.measures import accuracy
    >>> accuracy(["a", "a", "b", "b"], [0, 0, 0, 1])
    0.75
    """
    return accuracy_from(cells(known, labels, KNOWN))


def matched_accuracy(known: Any, labels: Any) -> float:
    """Share of objects on the best one-to-one matching of clusters to classes (Hungarian method).

    Clusters beyond the number of classes match nothing and count as errors.

    Examples
    --------
    >>> from consilience.measures import matched_accuracy
    >>> matched_accuracy(["a", "a", "a", "b"], [0, 0, 1, 2])
    0.75
    """
    return matched_accuracy_from(cells(known, labels, KNOWN))


def f1(known: Any, labels: Any, *, average: str = "classes") -> float:
    """Mean over classes of the best F1 that a single cluster reaches for the class.

    F1(class i, cluster j) = 2 n_ij / (n_i + n_j). The formula printed by Wang, Domeniconi and Laskey 2010 sums over one
    side and divides by the size of the other; this is the reading by class, each class counting the same.
    ``average="clusters"`` instead averages over clusters the best F1 that each reaches for a class.

    Examples
    --------
    >>> from consilience.measures import f1
    >>> round(f1([0, 0, 1, 1], [0, 0, 0, 1]), 3), round(f1([0, 0, 1, 1], [0, 1, 2, 3], average="clusters"), 3)
    (0.733, 0.667)
    """
    check_choice(average, ("classes", "clusters"), "average")
    return f1_from(cells(known, labels, KNOWN), average)


Cells = tuple[Ints, Ints, Ints]


def accuracy_from(found: Cells) -> float:
    """Σ_j max_i n_ij / n."""
    _, columns, counts = found
    best = np.zeros(columns.max(initial=-1) + 1, np.int64)
    np.maximum.at(best, columns, counts)
    return float(_ratio(best.sum(), counts.sum()))


def matched_accuracy_from(found: Cells) -> float:
    """Largest Σ n_ij over one-to-one matchings, / n."""
    rows, columns, counts = found
    if not counts.size:
        return float("nan")
    rows, columns = (np.unique(side, return_inverse=True)[1] for side in (rows, columns))
    shape = rows.max() + 1, columns.max() + 1
    if shape[0] * shape[1] > LARGEST:
        sizes = f"{shape[0]:,} classes cannot be matched with {shape[1]:,} clusters"
        raise InputError(f"{sizes}; are these labels, or names?")
    table = np.zeros(shape, np.int64)
    table[rows, columns] = counts
    return float(_ratio(table[linear_sum_assignment(table, maximize=True)].sum(), counts.sum()))


def f1_from(found: Cells, average: str = "classes") -> float:
    """Mean over one margin of the largest 2 n_ij / (n_i + n_j)."""
    rows, columns, counts = found
    if not counts.size:
        return float("nan")
    score = 2 * counts / (np.bincount(rows, counts)[rows] + np.bincount(columns, counts)[columns])
    side = rows if average == "classes" else columns
    best = np.zeros(side.max() + 1)
    np.maximum.at(best, side, score)
    return float(np.mean(best[np.bincount(side) > 0]))


# The same for a stack of tables, classes × clusters; F1 averaged over classes.


def accuracy_of(tables: Ints) -> Floats:
    return _ratio(tables.max(axis=1, initial=0).sum(axis=1), tables.sum(axis=(1, 2)))


def matched_accuracy_of(tables: Ints) -> Floats:
    best = [table[linear_sum_assignment(table, maximize=True)].sum() for table in tables]
    return _ratio(np.array(best), tables.sum(axis=(1, 2)))


def f1_of(tables: Ints) -> Floats:
    classes, clusters = tables.sum(axis=2), tables.sum(axis=1)
    score = 2 * tables / np.maximum(classes[:, :, None] + clusters[:, None, :], 1)
    return _ratio(score.max(axis=2, initial=0.0).sum(axis=1), (classes > 0).sum(axis=1))


def _ratio(parts: Any, wholes: Any) -> Floats:
    return np.where(wholes > 0, parts / np.maximum(wholes, 1), np.nan)
