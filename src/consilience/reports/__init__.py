"""Results for people: one HTML file, pictures, tables as files and on the terminal; one file per kind of result."""

from consilience.reports.agreement import draw_iterations, print_agreement
from consilience.reports.clusterer import ClustererReport
from consilience.reports.comparison import draw_comparison, print_comparison
from consilience.reports.consensus import draw_confidence, draw_members, print_consensus
from consilience.reports.contrast import draw_contrast, print_alternatives, print_contrast
from consilience.reports.ensemble import print_generation
from consilience.reports.figures import PALETTE
from consilience.reports.files import write_file, write_table
from consilience.reports.groups import describe_null
from consilience.reports.html import Code, Facts, Heading, Link, Picture, See, Sheet, Text
from consilience.reports.meta import draw_curve, draw_map, draw_scores, draw_tree, print_organized, write_organized
from consilience.reports.plane import draw_tiles
from consilience.reports.report import report
from consilience.reports.scales import draw_scales
from consilience.reports.sections import Report, remove_section, section, sections_of
from consilience.reports.summary import SummaryReport, draw_summary
from consilience.reports.terminal import terminal
from consilience.reports.tree_over_k import draw_tree_over_k, tree_over_k, tree_over_k_edges

__all__ = [
    "PALETTE",
    "ClustererReport",
    "Code",
    "Facts",
    "Heading",
    "Link",
    "Picture",
    "Report",
    "See",
    "Sheet",
    "SummaryReport",
    "Text",
    "describe_null",
    "draw_comparison",
    "draw_confidence",
    "draw_contrast",
    "draw_curve",
    "draw_iterations",
    "draw_map",
    "draw_members",
    "draw_scales",
    "draw_scores",
    "draw_summary",
    "draw_tiles",
    "draw_tree",
    "draw_tree_over_k",
    "print_agreement",
    "print_alternatives",
    "print_comparison",
    "print_consensus",
    "print_contrast",
    "print_generation",
    "print_organized",
    "remove_section",
    "report",
    "section",
    "sections_of",
    "terminal",
    "tree_over_k",
    "tree_over_k_edges",
    "write_file",
    "write_organized",
    "write_table",
]
