"""What organizing found: a tree of clusterings, and groups cut from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_choice, check_count, check_seed, count, show
from consilience._types import Columns, EnsembleLike, Floats, Ints
from consilience.consensus import Consensus, combine
from consilience.consensus.samples.ways import find_ways
from consilience.ensemble import Ensemble
from consilience.ensemble.results import Result
from consilience.inputs import as_ensemble
from consilience.measures import MEASURES
from consilience.meta import tree as trees
from consilience.meta.maps import Map, make_map
from consilience.meta.scores import Null, best_of_groups
from consilience.meta.tree import LINKAGES, layout, number_of_groups
from consilience.meta.ways import Way


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MetaClustering(Result):
    """A clustering of clusterings: a tree, and groups cut from it.

    Attributes
    ----------
    ensemble : Ensemble
        The m clusterings; everything below has their order.
    distances : (m (m − 1) / 2,) array
        SciPy's condensed form; estimates if `n_pairs` is not None.
    tree : (m − 1, 4) array
        SciPy's linkage: nodes 0 … m − 1 are the clusterings, node m + i is made by merge i.
    nodes : (n_groups,) int array
        The node of every group, in the order of their numbers.
    groups : (m,) int array
        Group of every clustering: 1 … n_groups by falling size, of equal ones the one with the lowest clustering first.
    curve : DataFrame
        ``compactness`` (Eq. 3 at the meta level) of ``n_groups`` 1 … m, its ``jump`` to one group fewer, and ``bend``, by how
        much that is more than the jump before: Figure 8 of Caruana et al. 2006.
    linkage, measure : str
    n_pairs : int or None
        Random pairs of objects (of another measure than Cluster Difference: random objects) from which the distances are estimated; None if
        they are exact.
    standard_error : float
        Of the estimates, as a root mean square; 0 if exact.
    note : str
        Where the number of groups came from.
    seed : int
        That drew the pairs.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads
    >>> meta = cs.organize(cs.generate(load_beads(), 12, n_clusters=4), 3)
    >>> meta.sizes.tolist(), meta.consensus(1).n_clusters
    ([6, 4, 2], 4)
    """

    ensemble: Ensemble
    distances: Floats
    tree: Floats
    nodes: Ints
    groups: Ints
    curve: pd.DataFrame
    linkage: str
    measure: str
    n_pairs: int | None = None
    standard_error: float = 0.0
    note: str = ""
    seed: int = 0

    @property
    def n_clusterings(self) -> int:
        """Number of clusterings, m."""
        return len(self.groups)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.nodes)

    @property
    def sizes(self) -> Ints:
        """Number of clusterings in every group, in the order of their numbers."""
        return np.bincount(self.groups, minlength=self.n_groups + 1)[1:]

    @property
    def numbers(self) -> range:
        """The numbers of the groups, 1 … n_groups."""
        return range(1, self.n_groups + 1)

    @property
    def heights(self) -> Floats:
        """Height of the tree at which every group is complete; 0 for a clustering alone."""
        return np.concatenate([np.zeros(self.n_clusterings), self.tree[:, 2]])[self.nodes]

    @cached_property
    def medoids(self) -> Ints:
        """The clustering of every group with the least mean distance to the others of it, in the order of the groups' numbers."""
        return np.array([self.medoid(group) for group in self.numbers])

    @property
    def jumps(self) -> pd.DataFrame:
        """Candidate numbers of groups, from 2 to 30, the sharpest jump of the curve first."""
        return trees.candidate_jumps(self.curve)

    @cached_property
    def ways(self) -> list[Way]:
        """The truly different groupings among the clusterings, each at whatever fineness; none where nothing recurs.

        Unlike groups, which are a cut of the tree, ways are counted: one is an answer. A clustering that no way describes belongs to none.

        Examples
        --------
        >>> import consilience as cs
        >>> meta = cs.organize([[0, 0, 1, 1] * 9, [0, 0, 1, 2] * 9, [0, 1, 0, 1] * 9, [1, 0, 1, 0] * 9])
        >>> [way.members.tolist() for way in meta.ways]
        [[0, 1], [2, 3]]
        """
        found = find_ways(self.ensemble, self.tree)
        return [Way(i, some, len(some) / self.n_clusterings, self.ensemble[:, some]) for i, some in enumerate(found, 1)]

    def to_frame(self) -> pd.DataFrame:
        """One row per clustering: its name, group, and whether it is the group's medoid.

        Examples
        --------
        >>> import consilience as cs
        >>> cs.organize([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]], 2).to_frame()
          name  group  medoid
        0    0      1    True
        1    1      1   False
        2    2      2    True
        """
        medoid = np.isin(np.arange(self.n_clusterings), self.medoids)
        return pd.DataFrame({"name": self.ensemble.names, "group": self.groups, "medoid": medoid})

    def cut(self, n_groups: int | str | None = None, *, height: float | None = None) -> MetaClustering:
        """The same tree in other groups: so many, "auto", or those complete at a height.

        Examples
        --------
        >>> import consilience as cs
        >>> meta = cs.organize([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1], [0, 1, 0, 1]], 2)
        >>> meta.cut(4).groups.tolist(), meta.cut(height=0.0).groups.tolist()
        ([1, 2, 3, 4], [1, 1, 2, 2])
        """
        n, note = number_of_groups(self.tree, self.curve, n_groups, height)
        nodes, groups = trees.cut(self.tree, n)
        return replace(self, nodes=nodes, groups=groups, note=note)

    def relink(self, linkage: str, n_groups: int | str = "auto") -> MetaClustering:
        """The same clusterings and distances in a tree of another linkage; O(m²).

        Examples
        --------
        >>> import consilience as cs
        >>> meta = cs.organize([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1], [0, 1, 0, 1]], 2)
        >>> meta.relink("single", 2).linkage
        'single'
        """
        check_choice(linkage, LINKAGES, "linkage")
        return replace(self, **_tree_and_groups(self.distances, linkage, n_groups, None))

    def branch(self, node: int) -> Ints:
        """The clusterings under a node of the tree, in increasing order.

        Examples
        --------
        >>> import consilience as cs
        >>> meta = cs.organize([[0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 0, 0]], 2)
        >>> meta.branch(3).tolist()  # made by the first merge
        [0, 2]
        """
        most = 2 * self.n_clusterings - 2
        if check_count("a node", node, least=0) > most:
            raise InputError(f"the nodes of this tree are numbered 0 to {most}; there is no node {node}")
        order, first, sizes = layout(self.tree)
        return np.sort(order[first[node] : first[node] + sizes[node]])

    def members(self, which: Any = None) -> Ints:
        """Clusterings by number: those of a group (a number), those given (a list or a mask), or all (None)."""
        if which is None:
            return np.arange(self.n_clusterings)
        chosen = np.asarray(which)
        if chosen.dtype.kind in "iu" and chosen.ndim == 0:
            if which not in self.numbers:
                numbered = f"groups are numbered 1 to {self.n_groups}, the largest first"
                raise InputError(f"{numbered}; there is no group {which}")
            return np.flatnonzero(self.groups == which)
        if chosen.dtype == bool and chosen.shape == self.groups.shape:
            chosen = np.flatnonzero(chosen)
        if chosen.dtype.kind not in "iu" or chosen.ndim != 1 or not chosen.size:
            raise InputError(f"choose a group by its number, or clusterings by a list of numbers; got {show(which)}")
        if chosen.min() < 0 or chosen.max() >= self.n_clusterings:
            raise InputError(f"clusterings are numbered 0 to {self.n_clusterings - 1}; got {show(which)}")
        return np.unique(chosen).astype(np.int64)

    def medoid(self, which: Any = None) -> int:
        """The most central clustering of a group, of given clusterings, or of all.

        Examples
        --------
        >>> import consilience as cs
        >>> cs.organize([[0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 2, 2], [0, 1, 1, 2, 2, 0]], 1).medoid()
        1
        """
        return trees.medoid_of(self.distances, self.members(which))

    def consensus(
        self,
        which: Any = None,
        *,
        method: str = "auto",
        n_clusters: int | str | None = None,
        random_state: Any = 0,
        **options: Any,
    ) -> Consensus:
        """What a group, given clusterings (such as ``branch(node)``), or all of them say together.

        Parameters
        ----------
        which : int, array or None
            A group, clusterings, or None for all.
        method : str
            As in :func:`consilience.combine`, whose answer for these clusterings this is. Caruana et al. 2006 take "evidence".
        n_clusters : int, "auto" or None
            None takes the median of the members.
        random_state : int
        **options
            Parameters of the method.

        Examples
        --------
        >>> import consilience as cs
        >>> meta = cs.organize([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1], [0, 1, 0, 1]], 2)
        >>> meta.consensus(2).labels
        array([0, 1, 0, 1])
        """
        return combine(self.ensemble[:, self.members(which)], n_clusters, method, random_state=random_state, **options)

    def map(
        self, kind: str = "mds", *, max_iter: int | None = None, random_state: Any = 0, progress: bool | None = None
    ) -> Map:
        """The clusterings as points in the plane, with how much the plane distorts.

        Parameters
        ----------
        kind : {"mds", "neighbors"}
            "mds" comes as near to all distances as it can: classical scaling, then SMACOF. "neighbors" is scikit-learn's t-SNE
            from the same start: it keeps far more neighbors, and far distances on it mean nothing.
        max_iter : int, optional
            Steps; by default 200 for "mds", fewer for thousands of clusterings (40 for 5,000), and scikit-learn's for "neighbors".
        random_state : int
        progress : bool, optional

        Examples
        --------
        >>> import consilience as cs
        >>> meta = cs.organize([[0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 2, 3]], 1)
        >>> meta.map().xy.shape
        (3, 2)
        """
        return make_map(self.distances, kind, max_iter=max_iter, random_state=random_state, progress=progress)

    def null(
        self,
        scores: Any,
        *,
        n_shuffles: int = 20,
        method: str = "auto",
        n_clusters: int | None = None,
        random_state: Any = 0,
        progress: bool | None = None,
        **options: Any,
    ) -> Null:
        """Score every group's consensus, and the best one against the best of groups of the same sizes whose members are shuffled.

        Costs as much as `n_shuffles` + 1 times the labels of the consensus of all groups.

        Parameters
        ----------
        scores : labels, function, DataFrame, or mapping of name to labels or function
            Known labels stand for the accuracy against them (Caruana et al. 2006, Eq. 4); a function takes the labels of a
            consensus and returns a number of which more is better.
        n_shuffles : int
            Every shuffle draws from its own stream of `random_state`.
        method, n_clusters, **options
            As in :meth:`consensus`; the same for groups and shuffles.

        Examples
        --------
        >>> import consilience as cs
        >>> meta = cs.organize([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1], [0, 1, 0, 1]], 2)
        >>> meta.null({"side": ["a", "a", "b", "b"]}, n_shuffles=5).table["best"].tolist()
        [1.0]
        """
        how: dict[str, Any] = {"n_shuffles": n_shuffles, "random_state": random_state, "progress": progress}
        how |= {"method": method, "n_clusters": n_clusters, **options}
        return best_of_groups(self.ensemble, self.groups, scores, **how)

    def __repr__(self) -> str:
        m, n = count(self.n_clusterings, "clustering"), count(self.ensemble.n_objects, "object")
        sizes = ", ".join(f"{size:,}" for size in self.sizes[:12])
        more = f" … ({self.n_groups - 12} more)" if self.n_groups > 12 else ""
        lines = [f"MetaClustering: {m} of {n} in {count(self.n_groups, 'group')}", f"sizes      {sizes}{more}"]
        lines += [f"tree       {self.linkage} linkage of {self.measure}", f"groups     {self.note}"]
        if self.n_pairs is not None:
            lines.append(
                f"distances  estimated from {trees.sketched(self.measure, self.n_pairs)}, standard error {self.standard_error:.4f}"
            )
        return "\n  ".join(lines)


# From an ensemble to a tree of its clusterings and groups of like ones (Caruana et al. 2006, sections 2.2 and 4.6).


def organize(
    ensemble: EnsembleLike,
    n_groups: int | str | None = "auto",
    linkage: str = "ward",
    *,
    measure: str = "auto",
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
        Any symmetric measure of :func:`consilience.pairwise`; a similarity s becomes the distance 1 − s. "auto" is "shared_information",
        which forgives fineness (a clustering and its refinement are alike, so that clusterings are not set apart by their number of
        clusters), and "cluster_difference" (Caruana et al. 2006) where all clusterings have one number of clusters.
    height : float, optional
        Instead of `n_groups`: the groups that are complete at this height of the tree.
    sketch : "auto", int or None
        Estimate the Cluster Difference from so many random pairs of objects, any other measure on so many random objects; None is exact.
        "auto" is exact unless that would take one core more than about ten seconds and 32,768 pairs, or 8,192 objects, are far faster.
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
    Ward's method takes the distances as if they were Euclidean.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads_labels
    >>> cs.organize(load_beads_labels())
    MetaClustering: 16 clusterings of 300 objects in 2 groups
      sizes      10, 6
      tree       ward linkage of shared_information
      groups     2 by the sharpest jump of the compactness curve; next 3, 6, 7: a suggestion, not a truth
    """
    ens, seed = as_ensemble(ensemble, columns=columns, id_column=id_column), check_seed(random_state)
    if ens.n_clusterings < 2:
        raise InputError("there is only one clustering: to organize takes at least two")
    check_choice(linkage, LINKAGES, "linkage")
    if measure == "auto":
        measure = trees.usual_measure(ens)
    check_choice(measure, [name for name, how in MEASURES.items() if how.symmetric], "symmetric measure")
    n_pairs = trees.sketch_size(ens, measure, sketch)
    if height is not None and n_groups == "auto":
        n_groups = None
    trees.check_cut(ens.n_clusterings, n_groups, height)
    distances, error = trees.distances_between(ens, measure, n_pairs, seed=seed, n_jobs=n_jobs, progress=progress)
    found = _tree_and_groups(distances, linkage, n_groups, height)
    estimate: dict[str, Any] = {"n_pairs": n_pairs, "standard_error": error, "seed": seed}
    return MetaClustering(ensemble=ens, distances=distances, measure=measure, **estimate, **found)


def _tree_and_groups(distances: Floats, linkage: str, n_groups: Any, height: float | None) -> dict[str, Any]:
    """The fields of a :class:`MetaClustering` that follow from distances and a linkage."""
    tree = trees.grow(distances, linkage)
    curve = trees.compactness_curve(tree, distances, linkage)
    n, note = number_of_groups(tree, curve, n_groups, height)
    nodes, groups = trees.cut(tree, n)
    return {"tree": tree, "curve": curve, "linkage": linkage, "nodes": nodes, "groups": groups, "note": note}
