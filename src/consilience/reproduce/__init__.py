"""The papers' experiments again: tables and figures in a folder, with the papers' numbers beside ours."""

from consilience.reproduce.paper000 import run as run_000
from consilience.reproduce.paper001 import run as run_001
from consilience.reproduce.report import Report

PAPERS = {"000": run_000, "001": run_001}

__all__ = ["PAPERS", "Report"]
