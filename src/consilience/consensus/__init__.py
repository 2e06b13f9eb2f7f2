"""Ensemble → one clustering, with a confidence and a support for every object."""

from consilience.consensus.anmi_search import ANMISearch
from consilience.consensus.bce import BCE
from consilience.consensus.bottleneck import InformationBottleneck
from consilience.consensus.certain_core import CertainCore
from consilience.consensus.combine import combine
from consilience.consensus.confidence import FLOATING, floating
from consilience.consensus.credible_ball import CredibleBall
from consilience.consensus.cspa import CSPA
from consilience.consensus.dawid_skene import DawidSkene
from consilience.consensus.estimator import Answer, ConsensusEstimator
from consilience.consensus.evidence import EvidenceAccumulation
from consilience.consensus.hbgf import HBGF
from consilience.consensus.hgpa import HGPA
from consilience.consensus.lwea import LWEA
from consilience.consensus.lwgp import LWGP
from consilience.consensus.mcla import MCLA
from consilience.consensus.mixture import MixtureModel
from consilience.consensus.nbce import NBCE
from consilience.consensus.quadratic import QuadraticConsensus
from consilience.consensus.registry import METHODS
from consilience.consensus.result import Consensus
from consilience.consensus.sccc import SCCC
from consilience.consensus.stable_components import floaters, stable_components
from consilience.consensus.summarize import summarize
from consilience.consensus.summary import Summary
from consilience.consensus.update import update
from consilience.consensus.vote import MajorityVote
from consilience.consensus.walk import ClusterWalk

__all__ = [
    "BCE",
    "CSPA",
    "FLOATING",
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
    "CertainCore",
    "ClusterWalk",
    "Consensus",
    "ConsensusEstimator",
    "CredibleBall",
    "DawidSkene",
    "EvidenceAccumulation",
    "InformationBottleneck",
    "MajorityVote",
    "MixtureModel",
    "QuadraticConsensus",
    "Summary",
    "combine",
    "floaters",
    "floating",
    "stable_components",
    "summarize",
    "update",
]
