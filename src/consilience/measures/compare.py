"""One look at an ensemble: how its clusterings agree with each other and with what is known."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_choice, check_labels, count, show
from consilience._json import plain
from consilience._types import Columns, EnsembleLike, Floats, Labels
from consilience.ensemble import Ensemble, check_same_objects
from consilience.ensemble.results import Result
from consilience.inputs import known_labels_of, open_source
from consilience.measures.pairwise import Stability, pairwise, stability_of, with_each
from consilience.measures.registry import MEASURES


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """What :func:`compare` found.

    Attributes
    ----------
    stability : dict of str to Stability
        For every measure, its mean over all pairs with the standard error; empty for a single clustering.
    clusterings : DataFrame
        One row per clustering: name, clusters, labeled (share of objects), for every measure the mean with the
        others, and for every known labeling the measures against it as ``"measure:labeling"``.
    matrices : dict of str to (n_clusterings, n_clusterings) array
        The values of all pairs.
    n_objects : int

    Examples
    --------
    >>> import consilience as cs
    >>> found = cs.compare([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]])
    >>> list(found.clusterings.columns)
    ['name', 'clusters', 'labeled', 'jaccard', 'nmi', 'adjusted_rand']
    """

    stability: dict[str, Stability]
    clusterings: pd.DataFrame
    matrices: dict[str, Floats] = field(repr=False)
    n_objects: int = 0

    def __repr__(self) -> str:
        lines = [f"Comparison of {count(len(self.clusterings), 'clustering')} of {count(self.n_objects, 'object')}"]
        lines += [f"{name:<24} {s.words(4)}" for name, s in self.stability.items()]
        for column in self.clusterings.columns:
            if ":" in column:
                measure, known = column.split(":", 1)
                at = _best(self.clusterings[column], measure)
                row = self.clusterings.loc[at]
                lines.append(f"{measure} with {known}: best {row[column]:.4f} ({row['name']})")
        return "\n  ".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """One row per clustering: `clusterings`."""
        return self.clusterings

    def matrix(self, measure: str) -> pd.DataFrame:
        """The values of all pairs, with the clusterings' names."""
        check_choice(measure, self.matrices, "measure in this comparison")
        names = list(self.clusterings["name"])
        return pd.DataFrame(self.matrices[measure], index=pd.Index(names, name="clustering"), columns=names)

    def extremes(self, measure: str) -> list[tuple[str, str, float]]:
        """The most alike pair of clusterings and the least alike one, each with its value; [] if none share an object."""
        matrix, names = self.matrix(measure).to_numpy(), list(self.clusterings["name"])
        values = np.where(np.triu(np.ones(matrix.shape, bool), 1), matrix, np.nan)
        if np.isnan(values).all():
            return []
        ends = (np.nanargmin, np.nanargmax) if MEASURES[measure].is_distance else (np.nanargmax, np.nanargmin)
        pairs = [np.unravel_index(end(values), values.shape) for end in ends]
        return [(names[i], names[j], float(matrix[i, j])) for i, j in pairs]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, ready for JSON (NaN becomes None); without the matrices."""
        stability: dict[str, dict[str, Any]] = {}
        for name, s in self.stability.items():
            stability[name] = {"mean": s.mean, "sem": s.sem, "sem_jackknife": s.sem_jackknife, "n_pairs": s.n_pairs}
            stability[name] |= {"most_alike": None, "least_alike": None}
            for key, (one, other, value) in zip(("most_alike", "least_alike"), self.extremes(name), strict=False):
                stability[name][key] = {"clusterings": [one, other], "value": value}
        sizes = {"n_objects": self.n_objects, "n_clusterings": len(self.clusterings)}
        return {**sizes, "stability": plain(stability), "clusterings": plain(self.clusterings)}


def compare(
    ensemble: EnsembleLike,
    measures: Sequence[str] = ("jaccard", "nmi", "adjusted_rand"),
    *,
    known: Any = None,
    columns: Columns = None,
    id_column: str | int | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Compare the clusterings of an ensemble with each other and with known labels.

    Parameters
    ----------
    ensemble : Ensemble, or what one is made from: path, folder, DataFrame, array, AnnData, result
    measures : sequence of str
        Names as for :func:`pairwise`.
    known : label vector, Series, DataFrame, mapping of name to label vector, path, or names of columns of the table, optional
        Known labels; each clustering is compared with each of them. A vector without a name is called "known". A pandas index must be that
        of the ensemble's ids, where both say which objects they are of.
    columns, id_column, n_jobs, progress
        As for :func:`pairwise`.

    Returns
    -------
    Comparison
        ``.stability`` (a :class:`Stability` for every measure), ``.clusterings`` (a DataFrame, one row each),
        ``.matrices`` and ``.matrix(measure)`` (all pairs), ``.extremes(measure)``, ``.to_dict()``.

    Examples
    --------
    >>> import consilience as cs
    >>> cs.compare([[0, 0, 1, 1], [0, 0, 1, 2]], ["jaccard"], known={"class": ["a", "a", "b", "b"]})
    Comparison of 2 clusterings of 4 objects
      jaccard                  0.5000
      jaccard with class: best 1.0000 (0)
    """
    opened = open_source(ensemble, kind="labels", known=known, columns=columns, id_column=id_column)
    ens, measures = opened.ensemble, _check_measures(measures)
    labelings = known_labels(opened.known, ens)
    rows = pd.DataFrame({"name": ens.names, "clusters": ens.n_clusters, "labeled": ens.coverage})
    matrices = {m: pairwise(ens, m, n_jobs=n_jobs, progress=progress) for m in measures}
    several = ens.n_clusterings > 1
    for measure, matrix in matrices.items():
        if several:
            rows[measure] = _mean_with_others(matrix)
    for name, codes in labelings.items():
        for measure in measures:
            rows[f"{measure}:{name}"] = with_each(measure, codes, ens)
    stability = {m: stability_of(matrix, m) for m, matrix in matrices.items()} if several else {}
    return Comparison(stability, rows, matrices, ens.n_objects)


def _check_measures(measures: Any) -> list[str]:
    if isinstance(measures, str):
        measures = [measures]
    if not isinstance(measures, Iterable) or not (names := list(measures)):
        raise InputError(f"measures must name at least one of {', '.join(MEASURES)}; got {show(measures)}")
    return list(dict.fromkeys(check_choice(name, MEASURES, "measure") for name in names))


def known_labels(known: Any, ens: Ensemble) -> dict[str, Labels]:
    """The known labelings by name, as codes, of the ensemble's own objects."""
    given = known_labels_of(known, ens)
    found = {name: check_labels(labels, f"the known labels {name!r}") for name, labels in given.items()}
    for name, codes in found.items():
        if len(codes) != ens.n_objects:
            raise InputError(f"the known labels {name!r} are {len(codes)} for {count(ens.n_objects, 'object')}")
    check_same_objects(ens, *given.values())
    return found


def _mean_with_others(matrix: Floats) -> Floats:
    values = (matrix + matrix.T) / 2
    np.fill_diagonal(values, np.nan)
    known = ~np.isnan(values)
    return np.where(known.any(axis=1), np.nansum(values, axis=1) / np.maximum(known.sum(axis=1), 1), np.nan)


def _best(values: pd.Series, measure: str) -> Any:
    if values.isna().all():
        return values.index[0]
    return values.idxmin() if MEASURES[measure].is_distance else values.idxmax()
