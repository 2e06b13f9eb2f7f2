"""Clusterings of both sides of a count table, and how they come to agree."""

from consilience.agreement.agree import agree
from consilience.agreement.cap import CAP
from consilience.agreement.comraf import Comraf
from consilience.agreement.count_blocks import CountBlocks
from consilience.agreement.mdc_and_dataloom import MDC, DataLoom
from consilience.agreement.result import Agreement
from consilience.agreement.stable_groups import stable_groups

__all__ = ["CAP", "MDC", "Agreement", "Comraf", "CountBlocks", "DataLoom", "agree", "stable_groups"]
