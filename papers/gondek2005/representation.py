"""Which representation of counts suits CondEns, chosen without labels: the one in which the splits agree most with what they add up to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience.alternatives import CondEns
from consilience.datasets import orthogonal_multinomials
from consilience.measures import adjusted_mutual_information, information_ratio
from consilience.tables import scale
from papers.cells import Cells
from papers.gondek2005.data import Texts
from papers.report import Report, over_seeds, with_error

CENTERS = {"as it is": None, "centered": "group"}
DEFAULT = ("counts", "as it is")
DRAWN = (("shear", 0.4), ("shear", 0.8), ("member", 0.4), ("member", 0.8))
RESTARTS = 5


def representations(counts: Any) -> Iterator[tuple[str, Any]]:
    """Ways to show counts to k-means, by name; all but the first have rows of length 1."""
    yield "counts", counts
    yield "rows", scale(counts, "rows")
    yield "tf-idf", scale(counts, "tfidf")
    yield "roots", scale(counts, "roots")
    yield "logs", scale(sparse.csr_matrix(counts.astype(float)).log1p(), "rows")


def run_representations(sets: Sequence[Texts], n_seeds: int, *, cells: Cells | None = None) -> pd.DataFrame:
    """Every representation, centered in the given groups or not, on documents both ways and on drawn data; one row per run."""
    tasks: list[Any] = [
        ({**texts.key, "given": given, "hidden": hidden, "seed": seed}, (texts,))
        for texts in sets
        for given, hidden in texts.directions
        for seed in range(n_seeds)
    ]
    for reading, alpha in DRAWN:
        key = {"data": f"{reading}, α = {alpha:g}", "documents": 0, "given": "P", "hidden": "Q"}
        tasks += [({**key, "seed": seed}, ((reading, alpha),)) for seed in range(n_seeds)]
    return (cells or Cells()).run("representations", _one_set, tasks)["rows"]


def _one_set(source: Any, data: str, documents: int, given: str, hidden: str, seed: int) -> list[dict[str, Any]]:
    if isinstance(source, Texts):
        counts, known, target = source.counts, source.labels[given].to_numpy(), source.labels[hidden].to_numpy()
    else:
        reading, alpha = source
        X, known, target = orthogonal_multinomials(3, alpha, reading=reading, random_state=seed)
        counts = sparse.csr_matrix(X)
    rows = []
    for name, X in representations(counts):
        for center, how in CENTERS.items():
            k = len(np.unique(target))
            model = CondEns(k, base="kmeans", center=how, n_init=RESTARTS, random_state=seed).fit(X, known)
            splits = model.ensemble_.labels.T
            agreement = float(np.mean([adjusted_mutual_information(split, model.labels_) for split in splits]))
            where = {"seed": seed, "data": data, "given": given, "representation": name, "center": center}
            rows.append({**where, "agreement": agreement, "nmi_hidden": information_ratio(target, model.labels_)})
    return rows


def choices(rows: pd.DataFrame) -> pd.DataFrame:
    """For every session and seed: NMI with the hidden labeling by default, as chosen by agreement, and at best."""
    lines = []
    for (data, given, seed), some in rows.groupby(["data", "given", "seed"], sort=False):
        plain = some[(some["representation"] == DEFAULT[0]) & (some["center"] == DEFAULT[1])].iloc[0]
        chosen = some.loc[some["agreement"].idxmax()]
        line = {
            "data": data,
            "given": given,
            "seed": seed,
            "default": plain["nmi_hidden"],
            "chosen": chosen["nmi_hidden"],
        }
        lines.append(line | {"mean": some["nmi_hidden"].mean(), "best": some["nmi_hidden"].max()})
    return over_seeds(pd.DataFrame(lines), ["data", "given"])


def report_representations(report: Report, rows: pd.DataFrame) -> None:
    """How well agreement chooses."""
    report.section("6. A representation chosen without labels")
    report.runs("representations", rows)
    report.text(
        "Not in the paper. Counts can be shown to k-means in many ways, and centered in the given groups or not; which is right differs "
        "between sets. Each split is learned in one group and extended to all others: where the representation suits, splits learned in "
        "different groups agree. Chosen is the way whose splits agree most with their combination (adjusted mutual information, mean); "
        "beside it the default (counts as they are), the mean over all ways, and the best by the hidden labeling."
    )
    mean = choices(rows)
    shown = mean[["data", "given"]].assign(
        **{name: with_error(mean, name) for name in ("default", "chosen", "mean", "best")}
    )
    report.table("representations", mean, "NMI with the hidden labeling of CondEnsMI with k-means.", shown=shown)
