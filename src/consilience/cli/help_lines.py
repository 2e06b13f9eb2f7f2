"""Help that fits the terminal: long lists of choices go on in the next line."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click


class FoldedHelp(click.HelpFormatter):
    """Click's formatter, which leaves ``--method [auto|walk|…]`` on one line however long it is."""

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Options and what they are for."""
        super().write_dl([(self.fold(first), second) for first, second in rows], col_max, col_spacing)

    def fold(self, text: str) -> str:
        """The text in lines that fit, broken after a bar.

        Examples
        --------
        >>> print(FoldedHelp(width=24).fold("--method [auto|walk|vote|mcla]"))
        --method [auto|walk|
              vote|mcla]
        """
        room = self.width - self.current_indent
        lines, line = [], ""
        for part in re.split(r"(?<=\|)", text):
            if line.strip() and len(line) + len(part) > room:
                lines.append(line)
                line = " " * (self.current_indent + 6)
            line += part
        return "\n".join([*lines, line])


class HelpContext(click.Context):
    """The context of every verb."""

    formatter_class = FoldedHelp
