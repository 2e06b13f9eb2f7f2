"""Several groupings found beside several that are known: which is which, and how much of all of them was found.

Two views of the same. **Grouping by grouping**: a measure of every found grouping with every known one, and how the known ones fare when
each has one of the found ones to itself, or the best. **Pair by pair**: two objects belong together if they share a cluster in
*at least one* grouping of a set, and the pairs of the one set are looked for in the other (as in ClustPy; Achtert et al. 2012).
Groupings of a single cluster, such as a space of noise, say nothing and are left out of both.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from consilience._check import InputError, check_choice, count
from consilience._types import EnsembleLike, Labels
from consilience.ensemble import Ensemble
from consilience.ensemble.results import Result
from consilience.inputs import as_ensemble
from consilience.measures.compare import known_labels
from consilience.measures.pairwise import with_each
from consilience.measures.registry import MEASURES

Labelings = dict[str, Labels]
SCORES = ("precision", "recall", "f1", "rand", "jaccard")
BLOCK = 2**22  # safeguard: memory; pairs of rows looked at in one go


@dataclass(frozen=True, eq=False, repr=False)
class LabelingComparison(Result):
    """What :func:`compare_labelings` found.

    Attributes
    ----------
    table : (found × known) DataFrame
        The measure of every two.
    measure : str
    matches : DataFrame
        One row per known grouping: the found one that the best one-to-one assignment gives it (None if there are too few)
        with its value, and the one that is nearest to it, whoever else has that, with its value.
    matched, best : float
        Means of these values over the known groupings. One without a partner counts as the worst value, 0 for a similarity.
    pairs : dict of str to float
        `precision`, `recall`, `f1`, `rand` and `jaccard` of the pairs that are together in at least one grouping.
    left_out : tuple of str
        Groupings of a single cluster.

    Examples
    --------
    >>> from consilience.measures import compare_labelings
    >>> found = compare_labelings([[0, 0, 1, 1], [0, 1, 0, 1]], {"one": [1, 1, 0, 0], "other": [0, 1, 0, 1]})
    >>> round(found.matched, 3), round(found.pairs["f1"], 3)
    (1.0, 1.0)
    """

    table: pd.DataFrame
    measure: str
    matches: pd.DataFrame
    matched: float
    best: float
    pairs: dict[str, float]
    left_out: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """The measure of every two: `table`."""
        return self.table

    def __repr__(self) -> str:
        lines = [f"LabelingComparison: {len(self.table)} found, {count(self.table.shape[1], 'known grouping')}"]
        lines += [f"  {line}".rstrip() for line in self.table.round(3).to_string().splitlines()]
        lines.append(f"  {self.measure}: {self.matched:.3f} matched one to one, {self.best:.3f} with the nearest")
        lines.append("  pairs: " + ", ".join(f"{name} {self.pairs[name]:.3f}" for name in SCORES))
        if self.left_out:
            lines.append(f"  left out, being one cluster: {', '.join(self.left_out)}")
        return "\n".join(lines)


def compare_labelings(found: EnsembleLike, known: Any, measure: str = "nmi") -> LabelingComparison:
    """Compare several groupings of the same objects with several that are known.

    Parameters
    ----------
    found : Ensemble, or what one is made from: path, folder, DataFrame, array, AnnData, result
    known : label vector, Series, DataFrame, mapping of name to label vector, or path
        Matched to the objects by id where both have ids.
    measure : str
        A name in :data:`MEASURES`.

    Returns
    -------
    LabelingComparison
        Cost: that of the measure for all pairs; and for the pairs of objects, with m groupings in all, by inclusion and exclusion over
        the 2^m sets of them O(2^m n) at most, or where these are too many over the pairs of u distinct rows, O(m u²) in blocks.

    Examples
    --------
    >>> from consilience.measures import compare_labelings
    >>> compare_labelings({"a": [0, 0, 1, 1, 2], "b": [0, 1, 0, 1, 1]}, {"shape": list("xyxyy"), "size": list("ssttt")})
    LabelingComparison: 2 found, 2 known groupings
             shape   size
      found
      a      0.141  0.799
      b      1.000  0.021
      nmi: 0.899 matched one to one, 0.899 with the nearest
      pairs: precision 1.000, recall 0.857, f1 0.923, rand 0.900, jaccard 0.857
    """
    check_choice(measure, MEASURES, "measure")
    ours, theirs, left_out = _sides(found, known)
    table = pd.DataFrame(index=pd.Index(list(ours), name="found"), columns=list(theirs), dtype=float)
    if ours:
        together = Ensemble.from_codes(np.column_stack(list(ours.values())))
        for name, labels in theirs.items():
            table[name] = with_each(measure, labels, together)
    matches = _matches(table, measure)
    matched, best = (float(matches[name].mean(skipna=False)) for name in ("matched_value", "best_value"))
    return LabelingComparison(table, measure, matches, matched, best, _pair_scores(ours, theirs), left_out)


def _sides(found: EnsembleLike, known: Any) -> tuple[Labelings, Labelings, tuple[str, ...]]:
    """Found and known groupings of more than one cluster, by name, and the names of the others."""
    ens = as_ensemble(found)
    all_found, all_known = dict(zip(_names(ens), ens.labels.T, strict=True)), known_labels(known, ens)
    ours, theirs = _told(all_found), _told(all_known)
    if not theirs:
        raise InputError("the known labels are one group: there is nothing to compare with")
    left_out = [name for every, told in ((all_found, ours), (all_known, theirs)) for name in every if name not in told]
    return ours, theirs, tuple(left_out)


def _names(ens: Ensemble) -> list[str]:
    names = ens.names
    return names if len(set(names)) == len(names) else [f"{i}: {name}" for i, name in enumerate(names)]


def _told(labelings: Labelings) -> Labelings:
    return {name: codes for name, codes in labelings.items() if len(np.unique(codes[codes >= 0])) > 1}


def _matches(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    how = MEASURES[measure]
    worst = (np.nan if how.largest is None else how.largest) if how.is_distance else 0.0
    values = table.to_numpy(float)
    sign = -1.0 if how.is_distance else 1.0
    scores = np.where(np.isnan(values), -np.inf, sign * values)
    rows = pd.DataFrame({"matched": None, "matched_value": worst, "best": None, "best_value": worst}, table.columns)
    rows = rows.astype({"matched": object, "best": object})
    finite = np.where(np.isneginf(scores), -1e9, scores)  # the assignment takes no infinities
    for i, j in zip(*linear_sum_assignment(finite, maximize=True), strict=True):
        if np.isfinite(scores[i, j]):
            rows.loc[table.columns[j], ["matched", "matched_value"]] = table.index[i], values[i, j]
    for j, name in enumerate(table.columns):
        if np.isfinite(scores[:, j]).any():
            i = int(np.argmax(scores[:, j]))
            rows.loc[name, ["best", "best_value"]] = table.index[i], values[i, j]
    return rows.rename_axis("known")


def _pair_scores(found: Labelings, known: Labelings) -> dict[str, float]:
    """From the pairs that each set, and both together, hold in at least one grouping."""
    nothing = np.zeros((len(next(iter(known.values()))), 0), np.int32)
    ours, theirs = (np.column_stack([nothing, *side.values()]) for side in (found, known))
    some = (theirs >= 0).any(axis=1) & ((ours >= 0).any(axis=1) | (not found))
    n = int(np.count_nonzero(some))
    in_found, in_known = joined_pairs(ours[some]), joined_pairs(theirs[some])
    either = joined_pairs(np.column_stack([ours, theirs])[some])
    both, total = in_known + in_found - either, n * (n - 1) // 2
    if either == 0:
        return dict.fromkeys(SCORES, 1.0)
    precision, recall = (both / pairs if pairs else 0.0 for pairs in (in_found, in_known))
    f1, rand = 2 * both / (in_found + in_known), (total - either + both) / total
    return dict(zip(SCORES, (precision, recall, f1, rand, both / either), strict=True))


def joined_pairs(labels: Labels) -> int:
    """Number of pairs of objects that share a cluster in at least one column; −1 shares none."""
    n, m = labels.shape
    if n < 2 or not m:
        return 0
    distinct = Ensemble.from_codes(labels).signatures()
    u = len(distinct.counts)
    return _by_sets(labels) if 2.0**m * n <= float(u) * u * m else _by_rows(distinct.labels, distinct.counts)


def _by_sets(labels: Labels) -> int:
    """Pairs together in each set of columns, sets of an odd number added and of an even one taken away."""
    n, m = labels.shape

    def count_from(rows: Any, groups: Any, first: int, sign: int) -> int:
        total = 0
        for j in range(first, m):
            codes = labels[rows, j]
            known = codes >= 0
            both = groups[known] * (int(codes.max(initial=0)) + 1) + codes[known]
            _, inner, sizes = np.unique(both, return_inverse=True, return_counts=True)
            pairs = sum(int(size) * (int(size) - 1) // 2 for size in sizes[sizes > 1])
            if pairs:
                shared = sizes[inner] > 1  # objects alone in all of these columns are alone in more of them
                total += sign * pairs + count_from(rows[known][shared], inner[shared], j + 1, -sign)
        return total

    return count_from(np.arange(n), np.zeros(n, np.int64), 0, 1)


def _by_rows(rows: Labels, counts: Any) -> int:
    """Pairs of distinct rows that have a label in common, times their objects; a block of rows at a time."""
    weights = counts.astype(np.int64)
    labeled = (rows >= 0).any(axis=1)
    total = int((weights * (weights - 1) // 2)[labeled].sum())
    step = max(1, BLOCK // len(rows))
    columns = np.ascontiguousarray(rows.T)
    for begin in range(0, len(rows), step):
        end = min(begin + step, len(rows))
        joined = np.zeros((end - begin, len(rows) - begin), bool)
        for column in columns:
            own = column[begin:end, None]
            joined |= (own == column[None, begin:]) & (own >= 0)
        joined[np.tri(*joined.shape, dtype=bool)] = False
        total += int(weights[begin:end] @ (joined @ weights[begin:]))
    return total
