"""One clustering combined from many: what :func:`combine` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from consilience._check import count, listed
from consilience._types import Array, EnsembleLike, Floats, Ints
from consilience.consensus.how_many.stability import STABLE
from consilience.consensus.trust.floaters import floating
from consilience.ensemble import Ensemble
from consilience.ensemble.results import Result, late

LISTED = 10  # safeguard: clusters that are printed, so that a screen holds them
KEPT = "keep_all=True, or --keep-all, keeps them"
WEAKEST = 4  # safeguard: of them, at least, that are least to be trusted

FEW_OBJECTS, LOW_CONFIDENCE = 10, 0.6  # fewer objects, or less on average, make an answer weak


class Labeled:
    """What records have that hold `labels`, `ids` and `n_clusters`, and most of them `confidence` and `support`, of objects."""

    _clustering = "clusters"  # what the labels are called as a clustering
    _maker = ""  # the field that says how it was made

    @property
    def sizes(self: Any) -> Ints:
        """Number of objects in every cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    @property
    def ensemble(self: Any) -> Ensemble:
        """The labels as an ensemble of one clustering, which verbs on clusterings take."""
        info = {"name": [self._clustering]} | ({"method": [getattr(self, self._maker)]} if self._maker else {})
        return Ensemble.from_codes(self.labels.astype(np.int32)[:, None], ids=self.ids, info=info)

    def to_frame(self: Any) -> pd.DataFrame:
        """One row per object: id (or number), cluster (−1 without one), confidence and support."""
        ids = np.arange(len(self.labels)) if self.ids is None else self.ids
        return pd.DataFrame({"id": ids, "cluster": self.labels, "confidence": self.confidence, "support": self.support})


class Supported(Labeled):
    """Those whose objects have a support, by which they float or not."""

    @property
    def floating(self: Any) -> Ints:
        """Numbers of the objects that float, the weakest support first; :func:`floaters` says more of them."""
        return floating(self.labels, self.support)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Consensus(Supported, Result):
    """One clustering combined from many.

    Attributes
    ----------
    labels : (n_objects,) int array
        Clusters 0 … k − 1, the largest first; −1 for objects that no clustering labels, or of weight 0.
    confidence : (n_objects,) float array
        Probability that an independent ensemble of the same kind puts the object in the same cluster
        (:mod:`consilience.consensus.trust.confidence`); 0 without a label.
    support : (n_objects,) float array
        Share of the object's clusterings whose label for it is, by plurality, a label of its cluster; 0 without a label.
        Objects with a support of at most one half are the :func:`floaters`.
    membership : (n_objects, n_clusters) array
        How strongly each object belongs to each cluster, in the method's own sense: shares of votes ("vote"), of clusters
        ("hbgf", "mcla"), of similarity ("walk", "cspa", "evidence"), posterior probabilities ("mixture", "nbce"), proportions ("bce");
        of the others, the probabilities of which `confidence` is that of the own cluster. Rows sum to 1.
    n_clusters : int
    method : str
    anmi : float
        Average NMI with the ensemble: how much of it the answer tells. Grows with k; not a measure of truth.
    ids : (n_objects,) array or None
        The objects' names, where the ensemble has them.
    clusters : DataFrame or None
        How far to trust each cluster: `cluster`, `size`, `share`, `confidence` and `support` (means of its objects), `floaters`,
        `recurrence` (how well the clusterings contain it), `nearest` (the cluster it is most often confused with) and `confused`
        (how often). Made when first read, as is the next; :mod:`consilience.consensus.trust.clusters_and_members` defines both.
    members : DataFrame or None
        How far to trust each clustering, in their order: `clustering`, `n_clusters`, `coverage`, `reliability` (how well it agrees
        with the others, at its own fineness), `weight` (how much it says), `kept` (share of its pairs that are together in the
        answer) and `better_without` (better left out).
    families : list of int arrays, or None
        Clusterings, by position, that agree among themselves and have next to nothing in common with those of the other families,
        the largest family first; empty where there are not at least two, None where nobody looked. Of several, one answer is a
        compromise that none supports: :func:`consilience.organize` tells them apart.
    curve : DataFrame or None
        How stable the answer is at every number of clusters that was tried: `n_clusters`, `stability` (adjusted Rand index of two
        halves of the clusterings) with its standard error `sem`.
    scales : DataFrame or None
        The number of the answer first, and then others that are stable, the most stable first: `n_clusters`, `stability`, `sem`, `real`
        (so stable as clouds without clusters hardly ever are) and `confidence` (mean of the objects).
    scale_labels : (n_objects, n_scales) int array or None
        The answer at every scale, by rising number of clusters: what :func:`consilience.reports.draw` draws as "tree_over_k".
    scale_confidence : (n_objects, n_scales) array or None
        The confidence of every object in these answers.
    names : list of str
        Of the clusterings that were combined.
    left_out : str
        Clusterings that it was made without, and why (:mod:`consilience.consensus.left_out`).
    doubt : str
        Why other kinds of clustering make it doubtful, where they were asked.
    note : str
        How the choices were made.
    call : str
        The call that made it, as Python.
    source : str
        The file or folder that it was made from, by name; "" for what was in memory.
    seconds : float
    estimator : the fitted estimator
        Not saved.

    Examples
    --------
    >>> import consilience as cs
    >>> one = cs.combine([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 0]], 2)
    >>> one.labels.tolist(), one.support.round(2).tolist()
    ([0, 0, 1, 1], [1.0, 1.0, 1.0, 0.67])
    """

    labels: Ints
    confidence: Floats
    support: Floats
    membership: Floats = late()  # noqa: RUF009
    n_clusters: int
    method: str
    anmi: float
    ids: Array | None = None
    clusters: pd.DataFrame | None = late()  # noqa: RUF009
    members: pd.DataFrame | None = late()  # noqa: RUF009
    families: list[Ints] | None = late()  # noqa: RUF009
    curve: pd.DataFrame | None = None
    scales: pd.DataFrame | None = None
    scale_labels: Ints | None = None
    scale_confidence: Floats | None = None
    names: list[str] = field(default_factory=list)
    left_out: str = ""
    doubt: str = ""
    note: str = ""
    call: str = ""
    source: str = ""
    seconds: float = 0.0
    estimator: Any = None

    _unsaved: ClassVar[tuple[str, ...]] = ("estimator",)
    _clustering, _maker = "consensus", "method"

    @classmethod
    def _upgrade(cls, fields: dict[str, Any], version: int) -> dict[str, Any]:
        fields.pop("splits", None)  # of earlier ones, by a test of every split
        if version == 1 and fields["members"] is not None:
            fields["members"] = fields["members"].rename(columns={"drop": "better_without"})
        return fields

    @property
    def n_objects(self) -> int:
        """Number of objects, with and without a label."""
        return len(self.labels)

    @property
    def n_without_labels(self) -> int:
        """Number of objects without a label."""
        return int(np.count_nonzero(self.labels < 0))

    @property
    def n_floaters(self) -> int:
        """Number of objects that float."""
        return len(self.floating)

    @property
    def mean_confidence(self) -> float:
        """Of the objects that have a label."""
        return float(self.confidence[self.labels >= 0].mean())

    @property
    def mean_support(self) -> float:
        """Of the objects that have a label."""
        return float(self.support[self.labels >= 0].mean())

    def update(self, ensemble: EnsembleLike) -> Consensus:
        """The answer with more clusterings, or more objects, without starting again: :func:`consilience.consensus.update.update`.

        Examples
        --------
        >>> import consilience as cs
        >>> from consilience.datasets import noisy_labels
        >>> ens, _ = noisy_labels(200, 4, 60, 0.2, random_state=0)
        >>> before = cs.combine(ens[:150, :50], 4)
        >>> before.update(ens).labels.shape
        (200,)
        """
        from consilience.consensus.update import update

        return update(self, ensemble)

    def to_frame(self, *, membership: bool = False) -> pd.DataFrame:
        """One row per object: id (or number), cluster (−1 without one), confidence, support, and memberships if asked for.

        Examples
        --------
        >>> import consilience as cs
        >>> cs.combine([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]], 2).to_frame().round(2)
           id  cluster  confidence  support
        0   0        0        0.62     1.00
        1   1        0        0.74     0.67
        2   2        1        0.69     1.00
        3   3        1        0.69     1.00
        """
        shares = {f"membership_{c}": share for c, share in enumerate(self.membership.T)} if membership else {}
        return super().to_frame().assign(**shares)

    def __repr__(self) -> str:
        bare = self.n_without_labels
        floaters = count(self.n_floaters, "floater")
        lines = [
            f"Consensus: {count(self.n_clusters, 'cluster')} of {self.n_objects - bare:,} objects by {self.method}",
            f"confidence  mean {self.mean_confidence:.3f}",
            f"support     mean {self.mean_support:.3f}; {floaters} (at most half of the clusterings agree)",
            f"anmi        {self.anmi:.4f}",
        ]
        if bare:
            lines.append(f"no label    {bare:,} objects (-1)")
        if scales := describe_scales(self):
            lines.append(f"scales      {scales}")
        if families := describe_families(self):
            lines.append(f"families    {families}: organize tells them apart")
        if self.left_out:
            lines.append(f"left out    {self.left_out}; {KEPT}")
        if self.note:
            lines.append(f"chosen      {self.note}")
        if self.clusters is None:
            lines.insert(1, f"sizes       {list_numbers(self.sizes)}")
        else:
            lines.append("cluster        size  confidence  support")
            shown, left = clusters_to_show(self.clusters["confidence"], LISTED)
            for row in self.clusters.iloc[shown].itertuples():
                lines.append(f"{row.cluster:>7}{row.size:>12,}{row.confidence:>12.3f}{row.support:>9.3f}")
            if left:
                lines.append(f"      … {left}")
        return "\n  ".join(lines)


def describe_scales(one: Consensus) -> str:
    """At which numbers of clusters halves of the clusterings agree, or kinds of clustering, in a few words; empty where nobody looked."""
    if one.scales is None:
        return ""
    if "voices" in one.scales:
        others = [str(k) for k in one.scales["n_clusters"] if k != one.n_clusters]
        return f"also {listed(others)}" if others else ""
    stable = [int(k) for k in one.scales.loc[one.scales["real"].astype(bool), "n_clusters"]]
    if not stable:
        return "no number of clusters is stable enough to tell"
    others = [f"{k}" for k in stable if k != one.n_clusters]
    if len(others) == len(stable):
        return f"stable at {listed(others)}, less so at {one.n_clusters}"
    return f"stable at {one.n_clusters}" + (f", also at {listed(others)}" if others else " only")


def describe_doubt(one: Any) -> str:
    """Why an answer, or whatever has `labels`, `confidence` and `scales`, is weak, in a few words; empty where nothing says so."""
    there = one.labels >= 0
    if (n := int(there.sum())) < FEW_OBJECTS:
        return f"{count(n, 'object')} {'is' if n == 1 else 'are'} too few to tell clusters from chance, whatever their confidence"
    if doubt := getattr(one, "doubt", "") or _doubt_of_number(one):
        return doubt
    if (mean := float(one.confidence[there].mean())) < LOW_CONFIDENCE:
        share = f"{100 * mean:.0f} % of the objects"
        return f"the confidence is low: another run would put only {share} in the same cluster"
    return ""


def _doubt_of_number(one: Any) -> str:
    """Why the number of clusters is in doubt, by the stability that was measured at it; empty where it was not, or is enough."""
    if one.scales is None or "voices" in one.scales:  # of which the voices tell
        return ""
    own = one.scales[one.scales["n_clusters"] == one.n_clusters]
    if not len(own) or own["real"].iloc[0]:
        return ""
    row = own.iloc[0]
    if row["stability"] < STABLE:
        return "no number of clusters is stable, so there may be no clusters in this data"
    clusters = count(int(row["n_clusters"]), "cluster")
    return (
        f"halves of the clusterings agree on {clusters} with ARI {row['stability']:.2f} only, as they can on clouds without clusters: "
        "labels alone cannot tell"
    )


def describe_families(one: Consensus) -> str:
    """What families mean for one answer from all of them, in a sentence without its end; empty where there are none."""
    if not one.families:
        return ""
    sizes = [f"{len(family):,}" for family in one.families]
    of = f"{', '.join(sizes[:-1])} and {sizes[-1]}"
    return (
        f"the clusterings fall into {len(sizes)} families (of {of}) with next to nothing in common, and one answer from all of them "
        "is a compromise"
    )


def clusters_to_show(confidence: Any, most: int) -> tuple[Ints, str]:
    """Which of many clusters to show: the largest, and always those least to be trusted; and what is left out."""
    values = np.asarray(confidence, float)
    if len(values) <= most:
        return np.arange(len(values)), ""
    weakest = np.argsort(values, kind="stable")[: max(1, min(WEAKEST, most // 2))]
    others = np.setdiff1d(np.arange(len(values)), weakest)
    shown = np.sort(np.append(weakest, others[: most - len(weakest)]))
    left = others[most - len(weakest) :]
    return shown, f"{len(left):,} more, with a confidence of at least {np.floor(values[left].min() * 1000) / 1000:.3f}"


def list_numbers(numbers: Ints, most: int = 12) -> str:
    """The first of some numbers, and how many more there are."""
    return listed([f"{number:,}" for number in numbers], most)
