"""Ensemble → one clustering, with a confidence and a support for every object."""

from consilience.consensus.combine import combine as combine
from consilience.consensus.methods import METHODS
from consilience.consensus.methods.anmi_search import ANMISearch
from consilience.consensus.methods.bce import BCE
from consilience.consensus.methods.cspa_hgpa_mcla import CSPA, HGPA, MCLA
from consilience.consensus.methods.dawid_skene import DawidSkene
from consilience.consensus.methods.estimator import Answer, ConsensusEstimator
from consilience.consensus.methods.evidence_and_lwea import LWEA, EvidenceAccumulation
from consilience.consensus.methods.hbgf_and_lwgp import HBGF, LWGP
from consilience.consensus.methods.information_and_quadratic import InformationBottleneck, QuadraticConsensus
from consilience.consensus.methods.mixture import MixtureModel
from consilience.consensus.methods.nbce import NBCE
from consilience.consensus.methods.sccc import SCCC
from consilience.consensus.methods.vote import MajorityVote
from consilience.consensus.methods.walk import ClusterWalk
from consilience.consensus.result import Consensus
from consilience.consensus.rows.stable_components import stable_components
from consilience.consensus.samples.summarize import summarize as summarize
from consilience.consensus.trust.floaters import floaters
from consilience.consensus.update import update

__all__ = [
    "BCE",
    "CSPA",
    "HBGF",
    "HGPA",
    "LWEA",
    "LWGP",
    "MCLA",
    "METHODS",
    "NBCE",
    "SCCC",
    "ANMISearch",
    "Answer",
    "ClusterWalk",
    "Consensus",
    "ConsensusEstimator",
    "DawidSkene",
    "EvidenceAccumulation",
    "InformationBottleneck",
    "MajorityVote",
    "MixtureModel",
    "QuadraticConsensus",
    "floaters",
    "stable_components",
    "update",
]
