"""The consensus methods by name."""

from __future__ import annotations

from typing import Any

from consilience._check import check_choice
from consilience.consensus.anmi_search import ANMISearch
from consilience.consensus.bce import BCE
from consilience.consensus.bottleneck import InformationBottleneck
from consilience.consensus.cspa import CSPA
from consilience.consensus.dawid_skene import DawidSkene
from consilience.consensus.estimator import ConsensusEstimator
from consilience.consensus.evidence import EvidenceAccumulation
from consilience.consensus.hbgf import HBGF
from consilience.consensus.hgpa import HGPA
from consilience.consensus.lwea import LWEA
from consilience.consensus.lwgp import LWGP
from consilience.consensus.mcla import MCLA
from consilience.consensus.mixture import MixtureModel
from consilience.consensus.nbce import NBCE
from consilience.consensus.quadratic import QuadraticConsensus
from consilience.consensus.sccc import SCCC
from consilience.consensus.vote import MajorityVote
from consilience.consensus.walk import ClusterWalk

METHODS: dict[str, type[ConsensusEstimator]] = {
    "walk": ClusterWalk,
    "vote": MajorityVote,
    "mcla": MCLA,
    "dawid_skene": DawidSkene,
    "quadratic": QuadraticConsensus,
    "information": InformationBottleneck,
    "hbgf": HBGF,
    "cspa": CSPA,
    "evidence": EvidenceAccumulation,
    "lwea": LWEA,
    "lwgp": LWGP,
    "sccc": SCCC,
    "anmi": ANMISearch,
    "hgpa": HGPA,
    "mixture": MixtureModel,
    "bce": BCE,
    "nbce": NBCE,
}


def make_estimator(method: str, n_clusters: int | None, how: dict[str, Any], options: dict[str, Any]) -> Any:
    """The estimator of a method, with those of the options and of `how` that it has."""
    estimator = METHODS[method]
    known = set(estimator._get_param_names())
    unknown = set(options) - known
    if unknown:
        check_choice(sorted(unknown)[0], sorted(known), f"option of {method}")
    given = {name: value for name, value in (how | options).items() if name in known}
    return estimator(n_clusters=n_clusters, **given)
