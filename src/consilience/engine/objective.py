"""The objective of the engine: how much information a partition keeps about its views."""

# Objects carry views: label columns, or tables of non-negative counts. For a partition C into k clusters every view v gives a table T of
# cluster × column sums, and the objective is Σ_v w_v · (what the partition keeps of v):
#
# - ``"shannon"``: I(C; v) = (1/N_v) [Σ φ(T_cy) − Σ φ(T_c·) − Σ φ(T_·y) + φ(N_v)], φ(x) = x log x;
# - ``"normalized"``: I(C; v) / √(H_v(C) H(v)), whose sum with coverage weights is ANMI times the weights' sum;
# - ``"quadratic"``: (1/N_v) [Σ_c Σ_y T_cy² / T_c· − Σ_y T_·y² / N_v], the squares k-means explains on one-hot columns
#   (half the category utility, Topchy, Jain and Punch 2003).
#
# Everything about a view is counted over the objects it knows: N_v, H_v(C), T_c·. A missing label or an empty row says nothing.

from typing import Any

import numpy as np

from consilience._check import check_choice
from consilience._kernels import OBJECTIVES, x_log_x
from consilience._types import Floats
from consilience.engine.views import Views, by_view, cluster_tables


def objective_of(views: Views, labels: Any, n_clusters: int, objective: str = "shannon") -> float:
    """The objective of a partition, from scratch. Cost O(entries + clusters · columns)."""
    check_choice(objective, OBJECTIVES, "objective")
    table, totals = cluster_tables(views, labels, n_clusters)
    n, columns = views.totals, table.sum(axis=0)
    known = n > 0
    n = np.where(known, n, 1.0)
    if objective == "quadratic":
        inside = np.divide(table**2, totals[:, views.view_of], out=np.zeros_like(table), where=table > 0).sum(axis=0)
        kept = (by_view(inside, views) - by_view(columns**2, views) / n) / n
        return float(views.weights[known] @ kept[known])
    sums, whole = x_log_x(totals).sum(axis=0), x_log_x(n)
    shared = by_view(x_log_x(table).sum(axis=0) - x_log_x(columns), views) - sums + whole
    if objective == "shannon":
        return float(views.weights[known] @ (np.maximum(shared, 0) / n)[known])
    own, other = whole - sums, whole - by_view(x_log_x(columns), views)
    single, constant = own <= 1e-9 * (1 + whole), other <= 1e-9 * (1 + whole)
    either = single | constant
    value = np.where(either, 0.0, np.maximum(shared, 0) / np.sqrt(np.where(either, 1.0, own * other)))
    return float(views.weights[known] @ np.where(single & constant, 1.0, value)[known])


def scales(views: Views, objective: str) -> Floats:
    """s_v of the kernel: the weight, over N_v where the objective is a mean."""
    n = views.totals
    if objective == "normalized":
        return np.where(n > 0, views.weights, 0.0)
    return np.divide(views.weights, n, out=np.zeros_like(n), where=n > 0)


def constant_of(views: Views, objective: str) -> float:
    """The part of the objective that does not depend on the partition, which the kernel leaves out."""
    n, columns = views.totals, views.column_totals
    scale = scales(views, "shannon")
    if objective == "shannon":
        return float(scale @ (x_log_x(n) - by_view(x_log_x(columns), views)))
    if objective == "quadratic":
        return -float(scale @ np.divide(by_view(columns**2, views), n, out=np.zeros_like(n), where=n > 0))
    return 0.0
