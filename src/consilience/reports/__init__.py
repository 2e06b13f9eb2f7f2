"""Results for people: one HTML file, pictures, tables as files and on the terminal; one file per kind of result."""

from importlib import import_module
from pkgutil import iter_modules

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

# Kinds of results, sections and pictures are registered when their modules are imported.
for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
