"""Results for people: one HTML file, pictures, tables as files and on the terminal; one file per kind of result."""

# These register their kinds of results, sections and pictures when they are imported.
from consilience.reports import clusterer, comparison, contrast, groups, summary, tree_over_k  # noqa: F401
from consilience.reports.figures import draw
from consilience.reports.finding import Code, Facts, Finding, Picture, Sheet, Text
from consilience.reports.report import report
from consilience.reports.sections import Report, remove_section, section

__all__ = [
    "Code",
    "Facts",
    "Finding",
    "Picture",
    "Report",
    "Sheet",
    "Text",
    "draw",
    "remove_section",
    "report",
    "section",
]
