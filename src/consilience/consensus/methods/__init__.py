"""The consensus methods: one file for each, or for a family of them, and their registry."""

from typing import Any

from consilience._check import check_choice
from consilience.consensus.methods.anmi_search import ANMISearch
from consilience.consensus.methods.bce import BCE
from consilience.consensus.methods.cspa_hgpa_mcla import CSPA, HGPA, MCLA
from consilience.consensus.methods.dawid_skene import DawidSkene
from consilience.consensus.methods.estimator import ConsensusEstimator
from consilience.consensus.methods.evidence_and_lwea import LWEA, EvidenceAccumulation
from consilience.consensus.methods.hbgf_and_lwgp import HBGF, LWGP
from consilience.consensus.methods.information_and_quadratic import InformationBottleneck, QuadraticConsensus
from consilience.consensus.methods.mixture import MixtureModel
from consilience.consensus.methods.nbce import NBCE
from consilience.consensus.methods.sccc import SCCC
from consilience.consensus.methods.vote import MajorityVote
from consilience.consensus.methods.walk import ClusterWalk

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
