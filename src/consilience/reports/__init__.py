"""Results as files, tables on the terminal, and pictures."""

from consilience.reports.figures import draw_agreement
from consilience.reports.files import write_file, write_table
from consilience.reports.terminal import print_comparison, terminal

__all__ = ["draw_agreement", "print_comparison", "terminal", "write_file", "write_table"]
