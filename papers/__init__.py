"""The papers' experiments again: tables and figures in a folder, with the papers' numbers beside ours."""

from papers.paper000 import run as run_000
from papers.paper001 import run as run_001
from papers.paper002 import run as run_002
from papers.paper003 import run as run_003
from papers.paper004 import run as run_004
from papers.report import Report

PAPERS = {"000": run_000, "001": run_001, "002": run_002, "003": run_003, "004": run_004}

__all__ = ["PAPERS", "Report"]
