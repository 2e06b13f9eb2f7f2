"""From an ensemble to a tree of its clusterings and groups of like ones (Caruana et al. 2006, sections 2.2 and 4.6)."""

from __future__ import annotations

from typing import Any

from consilience._check import InputError, check_choice, check_seed
from consilience._types import Columns, EnsembleLike
from consilience.inputs import as_ensemble
from consilience.measures import MEASURES
from consilience.meta.distances import distances_between, sketch_size
from consilience.meta.meta_clustering import MetaClustering
from consilience.meta.tree import LINKAGES, check_cut, compactness_curve, cut, grow, number_of_groups


def organize(
    ensemble: EnsembleLike,
    n_groups: int | str | None = "auto",
    linkage: str = "ward",
    *,
    measure: str = "cluster_difference",
    height: float | None = None,
    sketch: int | str | None = "auto",
    columns: Columns = None,
    id_column: str | int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> MetaClustering:
    """Cluster the clusterings: distances between them, a tree, and groups of like ones.

    Parameters
    ----------
    ensemble : Ensemble, or what one is made from: path, folder, DataFrame, array, AnnData, result
    n_groups : int or "auto"
        "auto" takes the number from 2 to 30 below which merging suddenly costs more: the sharpest jump of the compactness
        curve. That number is a suggestion, not a truth: without marked kinds of clusterings it tends to 2 to 5, and under average
        linkage it varied from 8 to 29 over repeated ensembles of the same data. Look at ``.jumps`` and use ``.cut``.
    linkage : {"ward", "average", "complete", "single"}
        Ward's method makes groups of like size. Average linkage (Caruana et al. 2006) often leaves most clusterings in one group,
        single linkage nearly all.
    measure : str
        Any symmetric measure of :func:`consilience.pairwise`; a similarity s becomes the distance 1 − s.
    height : float, optional
        Instead of `n_groups`: the groups that are complete at this height of the tree.
    sketch : "auto", int or None
        Estimate the Cluster Difference from so many random pairs of objects; None is exact. "auto" is exact unless that would
        take one core more than about ten seconds and 32,768 pairs are at least ten times as fast.
    columns : str, int or sequence of them, optional
        Of a table or a run: the clusterings to take, by name, position or pattern (``"leiden_*"``).
    id_column : str or int, optional
        Of a table: the column that names the objects.
    random_state : int
        For the sketch; nothing else is random.
    n_jobs : int, optional
        Threads for exact distances.
    progress : bool, optional
        Show a bar; by default only on a terminal.

    Returns
    -------
    MetaClustering

    Notes
    -----
    Time O(m² n) for exact distances or O(m² · pairs) for a sketch, then O(m²); memory 12 m² bytes beyond the ensemble.
    Two clusterings are compared on the objects that both label; without any there is no distance, and they are refused.
    Ward's method takes the distances as if they were Euclidean. (The square root of Cluster Difference is: Ward's method on that
    would be exact in the space of object pairs, but its groups told less about known labels on the one data set tried.)

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads_labels
    >>> cs.organize(load_beads_labels())
    MetaClustering: 16 clusterings of 300 objects in 2 groups
      sizes      10, 6
      tree       ward linkage of cluster_difference
      groups     2 by the sharpest jump of the compactness curve; next 3, 8, 6: a suggestion, not a truth
    """
    ens, seed = as_ensemble(ensemble, columns=columns, id_column=id_column), check_seed(random_state)
    if ens.n_clusterings < 2:
        raise InputError("there is only one clustering: to organize takes at least two")
    check_choice(linkage, LINKAGES, "linkage")
    check_choice(measure, [name for name, how in MEASURES.items() if how.symmetric], "symmetric measure")
    n_pairs = sketch_size(ens, measure, sketch)
    if height is not None and n_groups == "auto":
        n_groups = None
    check_cut(ens.n_clusterings, n_groups, height)
    distances, error = distances_between(ens, measure, n_pairs, seed=seed, n_jobs=n_jobs, progress=progress)
    tree = grow(distances, linkage)
    curve = compactness_curve(tree, distances, linkage)
    n, note = number_of_groups(tree, curve, n_groups, height)
    nodes, groups = cut(tree, n)
    return MetaClustering(
        ensemble=ens,
        distances=distances,
        tree=tree,
        nodes=nodes,
        groups=groups,
        curve=curve,
        linkage=linkage,
        measure=measure,
        n_pairs=n_pairs,
        standard_error=error,
        note=note,
        seed=seed,
    )
