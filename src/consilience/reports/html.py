"""One HTML page of sections: text, facts, tables and pictures.

Blocks hold plain text and numbers only; markup is made here and nowhere else, and every piece of text is escaped on its way in. The
page runs no script and asks for nothing outside itself, which its own security policy tells the browser too.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import pandas as pd

from consilience._check import count, printable
from consilience.reports.figures import draw
from consilience.reports.formats import decimals_of, format_cell, format_name

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
BROAD = 7  # inches from which a picture is scrolled on a narrow screen, not shrunk


@dataclass(frozen=True)
class Text:
    """A paragraph; a note is set off."""

    text: str
    note: bool = False


@dataclass(frozen=True)
class Facts:
    """Terms, each with what there is to say."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """Lines to type."""

    text: str


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table with a fixed name. A file has all of it; the page shows its first `most` rows, some columns if they are named.

    A table without rows to show (`most` is 0) is only for the file.
    """

    name: str
    frame: pd.DataFrame
    caption: str
    most: int = 30
    columns: Sequence[str] | None = None


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure with a fixed name, what it shows in words for those who cannot see it, and a caption."""

    name: str
    figure: Any
    alt: str
    caption: str


Block = Text | Facts | Code | Sheet | Picture


@dataclass(frozen=True, eq=False)
class Section:
    """A heading and what stands under it."""

    title: str
    blocks: Sequence[Block]


def escape(text: Any) -> str:
    """Text for HTML, wherever it stands: no markup, no quotes, no control characters."""
    return html.escape(printable(text), quote=True)


def render(title: str, lead: str, sections: Sequence[Section], footer: str, *, more: str = "") -> str:
    """The whole page; `more` says where rows are that tables leave out."""
    style = (files("consilience.reports") / "html.css").read_text(encoding="utf-8")
    links = "".join(f'<li><a href="#s{i}">{escape(one.title)}</a></li>' for i, one in enumerate(sections))
    body = "".join(_section(i, one, more) for i, one in enumerate(sections))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#main">Skip to the report</a>\n'
        f'<header>\n<h1>{escape(title)}</h1>\n<p class="lead">{escape(lead)}</p>\n'
        f'<nav aria-label="Sections"><ol>{links}</ol></nav>\n</header>\n'
        f'<main id="main">\n{body}</main>\n<footer>{escape(footer)}</footer>\n</body>\n</html>\n'
    )


def _section(number: int, section: Section, more: str) -> str:
    blocks = "\n".join(_block(block, more) for block in section.blocks)
    heading = f'<h2 id="s{number}">{escape(section.title)}</h2>'
    return f'<section aria-labelledby="s{number}">\n{heading}\n{blocks}\n</section>\n'


def _block(block: Block, more: str) -> str:
    if isinstance(block, Text):
        return f"<p{' class=note' if block.note else ''}>{escape(block.text)}</p>"
    if isinstance(block, Facts):
        return f"<dl>{''.join(f'<dt>{escape(term)}</dt><dd>{escape(text)}</dd>' for term, text in block.rows)}</dl>"
    if isinstance(block, Code):
        return f"<pre><code>{escape(block.text)}</code></pre>"
    return _sheet(block, more) if isinstance(block, Sheet) else _picture(block)


def _sheet(sheet: Sheet, more: str) -> str:
    if not sheet.most:
        return ""
    frame = sheet.frame.head(sheet.most)
    frame = frame if sheet.columns is None else frame[list(sheet.columns)]
    kinds = [' class="number"' if _is_number(kind) else "" for kind in (frame.index.dtype, *frame.dtypes)]
    names = zip((frame.index.name, *frame.columns), kinds, strict=True)
    head = "".join(f'<th scope="col"{kind}>{escape(format_name(name))}</th>' for name, kind in names)
    decimals = [decimals_of(frame.iloc[:, place]) for place in range(frame.shape[1])]
    rows = []
    for first, *rest in frame.itertuples(name=None):
        cells = zip(rest, kinds[1:], decimals, strict=True)
        text = "".join(f"<td{kind}>{escape(format_cell(value, places))}</td>" for value, kind, places in cells)
        rows.append(f'<tr><th scope="row"{kinds[0]}>{escape(format_cell(first))}</th>{text}</tr>')
    left = len(sheet.frame) - len(frame)
    where = more and f", in {more}/{sheet.name}.csv"
    note = f'<p class="rest">… and {escape(count(left, "more row") + where)}.</p>' if left > 0 else ""
    caption = escape(sheet.caption)
    return (
        f'<div class="wide" role="region" aria-label="{caption}" tabindex="0"><table><caption>{caption}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{''.join(rows)}</tbody></table></div>{note}"
    )


def _is_number(kind: Any) -> bool:
    return pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)


def _picture(picture: Picture) -> str:
    broad = ' class="broad"' if picture.figure.get_figwidth() > BROAD else ""
    svg = inline_svg(picture.figure, picture.name, picture.alt)
    return f"<figure{broad}>{svg}<figcaption>{escape(picture.caption)}</figcaption></figure>"


def inline_svg(figure: Any, name: str, alt: str) -> str:
    """The figure as an element of a page: black and white become the page's own colors, and its ids are no other figure's."""
    from matplotlib import rc_context

    file, nothing = io.BytesIO(), dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        draw(figure, file, "svg", transparent=True, metadata=nothing)
    svg = file.getvalue().decode()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r'(<g|<image [^>]*?) id="[^"]*"', r"\1", svg)  # nothing refers to these
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    for color, own in (("#000000", "currentColor"), ("#ffffff", "var(--paper)")):
        svg = re.sub(rf"(fill|stroke): {color}", rf"\1: {own}", svg)
    head, rest = svg.split(">", 1)
    points = float(re.findall(r'viewBox="0 0 ([\d.]+)', head)[0])
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    # As large as it was drawn, at most: a point is 4/3 of a pixel.
    return f'{head} role="img" aria-label="{escape(alt)}" style="max-width: {points * 4 / 3:.0f}px">{rest}'
