"""One partition from samples of a posterior, or from any clusterings: that of least expected loss."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from consilience._check import InputError, check_choice, check_count, check_seed, count, is_number, show
from consilience._run.parallel import runs_tasks
from consilience._types import Columns, EnsembleLike, Floats, Ints, PathLike
from consilience.consensus.methods.estimator import by_size
from consilience.consensus.rows.problem import check_problem
from consilience.consensus.samples.expected_loss import LOSSES, TRIED, ExpectedLoss, best_partition, usual_starts
from consilience.consensus.samples.summary import Summary, cohesion_of
from consilience.ensemble import Ensemble
from consilience.ensemble.results import written_call
from consilience.inputs import as_ensemble
from consilience.measures.counts import sums_with_each

MOST, TIMES = 200, 4  # clusters where no limit is given: at least so many, and so many times those of a sample


@runs_tasks
def summarize(
    samples: EnsembleLike,
    loss: str = "vi",
    *,
    cost: float = 1.0,
    max_clusters: int | None = None,
    n_starts: int | None = None,
    columns: Columns = None,
    id_column: str | int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    client: Any = None,
    log: PathLike | None = None,
    progress: bool | None = None,
) -> Summary:
    """Find the one partition that stands for many: that of least expected loss over posterior samples, or over any clusterings.

    Parameters
    ----------
    samples : Ensemble, or what one is made from: path, folder, DataFrame, array (objects × samples), list of label vectors, result
    loss : {"vi", "binder"}
        The variation of information in nats, or Binder's loss: the share of ordered pairs of objects that one partition has together and
        the other apart.
    cost : float
        Between 0 and 2: what it costs to part objects that belong together, where joining objects that do not costs
        2 − `cost`. Above 1 gives fewer clusters, below 1 more (``a`` of the R package salso).
    max_clusters : int, optional
        The most clusters there may be. By default four times those of the sample with the most, and at least 200; `note`
        says if that was reached.
    n_starts : int, optional
        Starts of the search; by default 12, and fewer where a pass over the samples takes long. More may find a lower loss.
    columns, id_column
        Of a table: see :func:`combine`.
    random_state : int
    n_jobs : int, optional
        Threads over starts; the answer does not depend on it.
    client : dask.distributed.Client, optional
        A cluster that the tasks go to, instead (``docs/scale.md``); the answer is the same.
    log : path, optional
        A file that lines are added to, of what was done, where, in how many seconds and with how much memory (``docs/scale.md``).
    progress : bool, optional
        A bar on standard error; by default only on a terminal.

    Returns
    -------
    Summary
        With the credible ball (:meth:`Summary.ball`) and the certain core (:meth:`Summary.core`).

    Notes
    -----
    The minimum is true to the loss: objects may stand alone. A sample that lacks labels is compared on the objects that it
    labels, all samples count alike, and an object without any label has none (−1). The formulas are in
    :mod:`consilience.consensus.samples.expected_loss`. A pass costs O(distinct rows · samples · clusters), memory is
    O(rows · samples + clusters · samples' clusters).

    Examples
    --------
    >>> import consilience as cs
    >>> found = cs.summarize([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 1]])
    >>> found
    Summary: 2 clusters of 6 objects from 4 samples
      sizes     3, 3
      loss      0.2529 nats expected (variation of information)
      cohesion  mean 0.833
      ball      100 % of the samples within 0.6931 nats; they have 2 to 3 clusters
    >>> found.labels
    array([0, 0, 0, 1, 1, 1])
    """
    began = time.perf_counter()
    check_choice(loss, LOSSES, "loss")
    if not is_number(cost) or not 0 < cost < 2:
        raise InputError(f"cost must be a number above 0 and below 2 (1: both errors cost the same); got {show(cost)}")
    if max_clusters is not None:
        check_count("max_clusters", max_clusters)
    if n_starts is not None:
        check_count("n_starts", n_starts)
    ens, seed = as_ensemble(samples, columns=columns, id_column=id_column), check_seed(random_state)
    given = {"loss": loss, "cost": cost, "max_clusters": max_clusters, "n_starts": n_starts, "columns": columns}
    call = written_call(summarize, samples, **given, id_column=id_column, random_state=seed)
    problem = check_problem(ens)
    expected = ExpectedLoss.of(problem.labels, problem.weights, loss, cost)
    limit = min(problem.n_rows, max_clusters or max(MOST, TIMES * int(problem.sizes.max())))
    labels, value = best_partition(
        expected,
        list(problem.labels.T[:: -(-problem.n_clusterings // TRIED)]),
        limit=limit,
        n_starts=n_starts or usual_starts(expected, float(np.median(problem.sizes))),
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
    )
    k = int(labels.max()) + 1
    rows = np.argsort(by_size(labels, problem.weights, k, problem.first))[labels]
    note = ""
    if max_clusters is None and k == limit < problem.n_rows:
        note = f"the search stopped at {count(k, 'cluster')}: raise max_clusters for more"
    of_objects = problem.to_objects(rows, -1)
    return Summary(
        labels=of_objects,
        n_clusters=k,
        expected_loss=value,
        loss=loss,
        cost=float(cost),
        cohesion=problem.to_objects(cohesion_of(problem, rows), 0.0),
        distances=distances_to(ens, of_objects, loss),
        samples=ens,
        ids=ens.ids,
        note=note,
        call=call,
        seconds=time.perf_counter() - began,
    )


def distances_to(samples: Ensemble, labels: Ints, loss: str) -> Floats:
    """The loss with equal costs between a partition and every sample, on the objects that it labels; NaN where it labels none."""
    sums = sums_with_each(labels.astype(np.int32), samples.labels, "square" if loss == "binder" else "xlogx")
    base = np.where(sums.n > 0, sums.n**2 if loss == "binder" else sums.n, np.nan)
    return np.maximum(sums.own + sums.other - 2 * sums.joint, 0.0) / base
