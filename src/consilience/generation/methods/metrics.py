"""Random metrics in random subspaces, for wide tables, each clustered through landmarks."""

# MDEC: D. Huang, C.-D. Wang, J.-H. Lai and C.-K. Kwoh, Toward multidiversified ensemble clustering of high-dimensional data, IEEE Trans.
# Cybernetics 52, 2022.
#
# A clustering draws a share of the columns from 0.2 to 0.8, one of the `METRICS` of rows, and a factor ½ … 2 for the width σ of the ties.
# Cosine and correlation are distances of rows that were scaled to length 1, after their means were taken out for the latter.

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from consilience import _kernels
from consilience._run.random import child_seed
from consilience._types import ArrayLike, Floats, Labels
from consilience.ensemble.results import register
from consilience.generation.kmeans import Runs
from consilience.generation.methods.landmarks import Landmarks
from consilience.generation.plan import Plan, Spec

METRICS = ("euclidean", "cosine", "correlation")
LEAST_SHARE, MOST_SHARE = 0.2, 0.8  # of the columns, as in the paper


class Metrics(Landmarks):
    """Spectral clustering through landmarks, by a random metric on a random share of the columns."""

    drawn: ClassVar[tuple[str, ...]] = ("own_scale", "metric_number", "sigma_factor")

    def draw(self, spec: Spec, u: Floats, plan: Plan) -> Spec:
        order = np.argsort(u[2:], kind="stable")
        weights = np.zeros(len(order), np.int64)
        weights[order[: max(1, round((LEAST_SHARE + (MOST_SHARE - LEAST_SHARE) * u[1]) * len(order)))]] = 1
        # A stream of their own: u has as many numbers as the table has columns, all in use.
        metric, width = _kernels.random_uniform(child_seed(spec.seed, "generation.metrics"), spec.unit, 2)
        number = float(int(metric * len(METRICS)))
        drawn = {"own_scale": float(u[0]), "metric_number": number, "sigma_factor": float(2 ** (2 * width - 1))}
        return replace(spec, weights=weights, drawn=drawn)

    def make(self, table: ArrayLike, spec: Spec, plan: Plan) -> Runs:
        metric = METRICS[int(spec.drawn["metric_number"])]
        runs = super().make(rows_for(table, metric), spec, plan)
        return replace(runs, predictor=MetricModel(metric, runs.predictor))

    def describe(self, row: Mapping[str, Any]) -> str:
        n_columns = int(np.count_nonzero(row["weights"]))
        return f"{super().describe(row)}; {METRICS[int(row['metric_number'])]} on {n_columns} columns"


@register
@dataclass(frozen=True, eq=False)
class MetricModel:
    metric: str
    model: Any

    def label(self, table: ArrayLike) -> Labels:
        labels: Labels = self.model.label(rows_for(table, self.metric))
        return labels


def rows_for(table: ArrayLike, metric: str) -> Any:
    # Rows whose Euclidean distances are those of the metric (for cosine and correlation √2 (1 − similarity)^½); a row of zeros stays. The
    # means of sparse rows are not taken out, which would fill them: their correlation is the cosine.
    if metric == "euclidean":
        return table
    if sparse.issparse(table):
        length = np.sqrt(table.multiply(table).sum(axis=1)).A1
        return sparse.csr_matrix(sparse.diags(1 / np.where(length > 0, length, 1)) @ table)
    rows = np.asarray(table - table.mean(axis=1, keepdims=True) if metric == "correlation" else table)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)
