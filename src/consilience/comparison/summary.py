"""One look at an ensemble: how its clusterings agree with each other and with what is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_choice, check_labels
from consilience.comparison.counts import Floats, cells, pair_sums
from consilience.comparison.pairwise import MEASURES, Stability, pairwise, stability_of
from consilience.ensemble import Ensemble


@dataclass(frozen=True)
class Comparison:
    """What :func:`compare` found.

    Attributes
    ----------
    stability : dict of str to Stability
        For every measure, its mean over all pairs with the standard error; empty for a single clustering.
    clusterings : DataFrame
        One row per clustering: name, clusters, labelled (share of objects), for every measure the mean with the
        others, and for every known labelling the measures against it as ``"measure:labelling"``.
    matrices : dict of str to (n_clusterings, n_clusterings) array
        The values of all pairs.
    n_objects : int
    """

    stability: dict[str, Stability]
    clusterings: pd.DataFrame
    matrices: dict[str, Floats] = field(repr=False)
    n_objects: int = 0

    def __repr__(self) -> str:
        lines = [f"Comparison of {len(self.clusterings):,} clusterings of {self.n_objects:,} objects"]
        lines += [f"{name:<24} {s.mean:.4f} ± {s.sem:.4f}" for name, s in self.stability.items()]
        for column in self.clusterings.columns:
            if ":" in column:
                measure, known = column.split(":", 1)
                at = _best(self.clusterings[column], measure)
                row = self.clusterings.loc[at]
                lines.append(f"{measure} with {known}: best {row[column]:.4f} ({row['name']})")
        return "\n  ".join(lines)

    def matrix(self, measure: str) -> pd.DataFrame:
        """The values of all pairs, with the clusterings' names."""
        check_choice(measure, self.matrices, "measure in this comparison")
        names = list(self.clusterings["name"])
        return pd.DataFrame(self.matrices[measure], index=pd.Index(names, name="clustering"), columns=names)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, ready for JSON (NaN becomes None); without the matrices."""
        stability = {
            name: {"mean": s.mean, "sem": s.sem, "sem_jackknife": s.sem_jackknife, "n_pairs": s.n_pairs}
            for name, s in self.stability.items()
        }
        rows = self.clusterings.to_dict("records")
        return {
            "n_objects": self.n_objects,
            "n_clusterings": len(rows),
            "stability": {name: _plain(values) for name, values in stability.items()},
            "clusterings": [_plain(row) for row in rows],
        }


def compare(
    ensemble: Any,
    measures: Sequence[str] = ("jaccard", "nmi", "adjusted_rand"),
    *,
    truth: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Compare the clusterings of an ensemble with each other and with known labels.

    Parameters
    ----------
    ensemble : Ensemble, or what one is made from
    measures : sequence of str
        Names as for :func:`pairwise`.
    truth : mapping of name to label vector, optional
        Known labellings; each clustering is compared with each of them.

    Examples
    --------
    >>> import consilience as cs
    >>> cs.compare([[0, 0, 1, 1], [0, 0, 1, 2]], ["jaccard"], truth={"class": ["a", "a", "b", "b"]})
    Comparison of 2 clusterings of 4 objects
      jaccard                  0.5000 ± nan
      jaccard with class: best 1.0000 (0)
    """
    ens = ensemble if isinstance(ensemble, Ensemble) else Ensemble(ensemble)
    measures = [measures] if isinstance(measures, str) else list(measures)
    for measure in measures:
        check_choice(measure, MEASURES, "measure")
    known = {str(name): check_labels(labels, f"the known labels {name!r}") for name, labels in (truth or {}).items()}
    for name, codes in known.items():
        if len(codes) != ens.n_objects:
            raise InputError(f"the known labels {name!r} are {len(codes)} for {ens.n_objects} objects")
    names = [str(name) for name in (ens.info["name"] if "name" in ens.info else range(ens.n_clusterings))]
    rows = pd.DataFrame({"name": names, "clusters": ens.n_clusters, "labelled": ens.coverage})
    matrices = {m: pairwise(ens, m, n_jobs=n_jobs, progress=progress) for m in measures}
    several = ens.n_clusterings > 1
    for measure, matrix in matrices.items():
        if several:
            rows[measure] = _mean_with_others(matrix)
    for name, codes in known.items():
        for measure in measures:
            rows[f"{measure}:{name}"] = [_value(measure, codes, column) for column in ens.labels.T]
    stability = {m: stability_of(matrix, m) for m, matrix in matrices.items()} if several else {}
    return Comparison(stability, rows, matrices, ens.n_objects)


def _value(measure: str, truth: Any, labels: Any) -> float:
    how = MEASURES[measure]
    return float(how.formula(cells(truth, labels) if how.term is None else pair_sums(truth, labels, how.term)))


def _mean_with_others(matrix: Floats) -> Floats:
    values = (matrix + matrix.T) / 2
    np.fill_diagonal(values, np.nan)
    known = ~np.isnan(values)
    return np.where(known.any(axis=1), np.nansum(values, axis=1) / np.maximum(known.sum(axis=1), 1), np.nan)


def _best(values: pd.Series, measure: str) -> Any:
    if values.isna().all():
        return values.index[0]
    return values.idxmin() if MEASURES[measure].distance else values.idxmax()


def _plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    plain = {str(k): v.item() if isinstance(v, np.generic) else v for k, v in row.items()}
    return {k: None if isinstance(v, float) and np.isnan(v) else v for k, v in plain.items()}
