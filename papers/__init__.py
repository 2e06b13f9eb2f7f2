"""The papers' experiments again: tables and figures in a folder, with the papers' numbers beside ours."""

from papers import bekkerman2009, caruana2006, gondek2005, strehl2002, wang2010
from papers.report import Report
from papers.runner import Paper

PAPERS: dict[str, Paper] = {
    paper.name: paper
    for paper in (strehl2002.PAPER, gondek2005.PAPER, caruana2006.PAPER, bekkerman2009.PAPER, wang2010.PAPER)
}

__all__ = ["PAPERS", "Paper", "Report"]
