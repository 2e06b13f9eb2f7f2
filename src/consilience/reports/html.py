"""One HTML page of sections: text, facts, tables and pictures.

Blocks hold plain text and numbers only; markup is made here and nowhere else, and every piece of text is escaped on its way in. The
page runs no script and asks for nothing outside itself, which its own security policy tells the browser too.
"""

import base64
import html
import io
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import count, printable
from consilience.reports import finding
from consilience.reports.figures import draw_to
from consilience.reports.words import decimals_of, format_cell, format_name

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
BROAD = 7  # safeguard: inches; a wider picture is scrolled on a narrow screen, since shrunk nobody could read it


def escape(text: Any) -> str:
    """Text for HTML, wherever it stands: no markup, no quotes, no control characters."""
    return html.escape(printable(text), quote=True)


def render(
    title: str, lead: Sequence[finding.Block], sections: Sequence[finding.Section], footer: str, *, more: str = ""
) -> str:
    """The whole page, the answer in front; `more` says where rows are that tables leave out."""
    style = (files("consilience.reports") / "html.css").read_text(encoding="utf-8")
    links = "".join(f'<li><a href="#s{i}">{escape(one.title)}</a></li>' for i, one in enumerate(sections))
    page = _Page(sections, more)
    body = "".join(page.section(i, one) for i, one in enumerate(sections))
    said = "\n".join(page.block(block) for block in lead)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#main">Skip to the report</a>\n'
        f'<header>\n<h1>{escape(title)}</h1>\n<div class="lead">\n{said}\n</div>\n'
        f'<nav aria-label="Sections"><ol>{links}</ol></nav>\n</header>\n'
        f'<main id="main">\n{body}</main>\n<footer>{escape(footer)}</footer>\n</body>\n</html>\n'
    )


class _Page:
    """What a page has, with the numbers that its figures and tables are cited by."""

    def __init__(self, sections: Sequence[finding.Section], more: str) -> None:
        self._more, self._numbers = more, dict[str, str]()
        self._given = set[str]()
        blocks = [block for one in sections for block in one.blocks]
        pictures = [block.name for block in blocks if isinstance(block, finding.Picture)]
        sheets = [block.name for block in blocks if isinstance(block, finding.Sheet) and block.most]
        for kind, names in (("figure", pictures), ("table", sheets)):
            for number, name in enumerate(names, 1):
                self._numbers.setdefault(f"{kind}-{anchor_of(name)}", f"{kind.capitalize()} {number}")
        self._places = {*self._numbers, *(block.anchor for block in blocks if isinstance(block, finding.Heading))}
        for block in blocks:
            if isinstance(block, finding.Sheet) and block.anchors is not None:
                self._places |= set(block.anchors[: block.most])
        self._n = {"figure": 0, "table": 0}

    def words(self, words: finding.Words) -> str:
        parts = [words] if isinstance(words, str) else words
        return "".join(_text(part) if isinstance(part, str) else self._reference(part) for part in parts)

    def _reference(self, part: finding.Link | finding.See) -> str:
        if isinstance(part, finding.Link):
            return self._link(part.to, part.words)
        cited = {f"figure-{anchor_of(name)}" for name in part.figures}
        cited |= {f"table-{anchor_of(name)}" for name in part.tables}
        there = ", ".join(self._link(name, called) for name, called in self._numbers.items() if name in cited)
        return f" ({there})" if there else ""

    def _link(self, to: str, words: str) -> str:
        return f'<a href="#{escape(to)}">{escape(words)}</a>' if to in self._places else escape(words)

    def section(self, number: int, section: finding.Section) -> str:
        blocks = "\n".join(self.block(block) for block in section.blocks)
        heading = f'<h2 id="s{number}">{escape(section.title)}</h2>'
        return f'<section aria-labelledby="s{number}">\n{heading}\n{blocks}\n</section>\n'

    def block(self, block: finding.Block) -> str:
        if isinstance(block, finding.Text):
            return f"<p{' class=note' if block.note else ''}>{self.words(block.text)}</p>"
        if isinstance(block, finding.Items):
            return f"<ul>{''.join(f'<li>{self.words(item)}</li>' for item in block.items)}</ul>"
        if isinstance(block, finding.Heading):
            return f"<h3{self._id(block.anchor)}>{escape(block.text)}</h3>"
        if isinstance(block, finding.Facts):
            return f"<dl>{''.join(f'<dt>{escape(term)}</dt><dd>{escape(text)}</dd>' for term, text in block.rows)}</dl>"
        if isinstance(block, finding.Code):
            return f'<pre tabindex="0"><code>{escape(block.text)}</code></pre>'
        return self._sheet(block) if isinstance(block, finding.Sheet) else self._picture(block)

    def _id(self, anchor: str) -> str:
        if anchor in self._given:
            return ""
        self._given.add(anchor)
        return f' id="{escape(anchor)}"'

    def _number(self, kind: str) -> str:
        self._n[kind] += 1
        return f'<span class="cite">{kind.capitalize()} {self._n[kind]}.</span> '

    def _sheet(self, sheet: finding.Sheet) -> str:
        if not sheet.most:
            return ""
        whole = sheet.frame if sheet.columns is None else sheet.frame[list(sheet.columns)]
        frame = whole.head(sheet.most)
        types = (frame.index.dtype, *frame.dtypes)
        numbers = [pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind) for kind in types]
        kinds = [' class="number"' if is_number else "" for is_number in numbers]
        names = zip((frame.index.name, *frame.columns), kinds, strict=True)
        head = "".join(f'<th scope="col"{kind}>{escape(format_name(name))}</th>' for name, kind in names)
        head += "".join(f'<th scope="col">{escape(name)}</th>' for name in sheet.strips)
        decimals = [decimals_of(whole.iloc[:, place]) for place in range(frame.shape[1])]
        rows = []
        for at, (first, *rest) in enumerate(frame.itertuples(name=None)):
            cells = zip(rest, kinds[1:], decimals, strict=True)
            text = "".join(f"<td{kind}>{_cell(value, kind, places)}</td>" for value, kind, places in cells)
            text += "".join(f"<td>{draw_strip(column[at])}</td>" for column in sheet.strips.values())
            place = "" if sheet.anchors is None else self._id(sheet.anchors[at])
            rows.append(f'<tr{place}><th scope="row"{kinds[0]}>{self._row_name(sheet, at, first)}</th>{text}</tr>')
        left = len(sheet.frame) - len(frame)
        where = self._more and f", in {self._more}/{sheet.name}.csv"
        note = f'<p class="rest">… and {escape(count(left, "more row") + where)}.</p>' if left > 0 else ""
        caption = escape(sheet.caption)
        return (
            f'<div class="wide"{self._id(f"table-{anchor_of(sheet.name)}")} role="region" aria-label="{caption}" tabindex="0">'
            f"<table><caption>{self._number('table')}{caption}</caption>\n"
            f"<thead><tr>{head}</tr></thead>\n<tbody>{''.join(rows)}</tbody></table></div>{note}"
        )

    def _row_name(self, sheet: finding.Sheet, at: int, name: Any) -> str:
        text = format_cell(name)
        link = escape(text) if sheet.links is None else self._link(sheet.links[at], text)
        color = "" if sheet.colors is None else escape(sheet.colors[at])
        return f'<span class="swatch" style="background: {color}"></span>{link}' if color else link

    def _picture(self, picture: finding.Picture) -> str:
        broad = ' class="broad" tabindex="0"' if picture.figure.get_figwidth() > BROAD else ""
        svg = inline_svg(picture.figure, picture.name, picture.alt)
        caption = f"{self._number('figure')}{self.words(picture.caption)}"
        place = self._id(f"figure-{anchor_of(picture.name)}")
        return f"<figure{place}{broad}>{svg}<figcaption>{caption}</figcaption></figure>"


def _text(words: str) -> str:
    """Escaped, and no number alone at the end of a line, without its percent sign."""
    return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", escape(words))


def anchor_of(name: str) -> str:
    """A name as the name of a place of the page."""
    return re.sub(r"[^\w-]+", "-", name)


def _cell(value: Any, kind: str, places: int) -> str:
    text = escape(format_cell(value, places))
    return text.replace("-", "−") if kind else text  # a minus, of numbers


def inline_svg(figure: Any, name: str, alt: str) -> str:
    """The figure as an element of a page: black and white become the page's own colors, and its ids are no other figure's."""
    from matplotlib import rc_context

    file, nothing = io.BytesIO(), dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        draw_to(figure, file, "svg", transparent=True, metadata=nothing)
    svg = file.getvalue().decode()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r'(<g|<image [^>]*?) id="[^"]*"', r"\1", svg)  # nothing refers to these
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"(data:image/png;base64,)([^\"]+)", lambda found: found[1] + _smaller(found[2]), svg)
    for color, own in (("#000000", "currentColor"), ("#ffffff", "var(--paper)")):
        svg = re.sub(rf"(fill|stroke): {color}", rf"\1: {own}", svg)
    head, rest = svg.split(">", 1)
    points = float(re.findall(r'viewBox="0 0 ([\d.]+)', head)[0])
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    # As large as it was drawn, at most: a point is 4/3 of a pixel.
    return f'{head} role="img" aria-label="{escape(alt)}" style="max-width: {points * 4 / 3:.0f}px">{rest}'


def _smaller(png: str) -> str:
    """The same picture in at most 256 colors, where that is smaller: dots and fields of a few colors need no more."""
    from PIL import Image

    file, made = io.BytesIO(base64.b64decode(png)), io.BytesIO()
    few = Image.open(file).convert("RGBA").quantize(256, method=Image.Quantize.FASTOCTREE)
    few.save(made, "png")
    return min(re.sub(r"\s", "", png), base64.b64encode(made.getvalue()).decode(), key=len)


WIDE, HIGH = 112, 26  # safeguard: pixels, so that a small picture fits into a cell of a table


def draw_strip(strip: finding.Strip | None) -> str:
    if strip is None:
        return ""
    sides = [strip.inside] if strip.outside is None else [strip.inside, strip.outside]
    top = max(max(side, default=0) for side in sides) or 1
    paths = [_path(side, top, separate=strip.levels is not None) for side in sides]
    drawn = f'<path fill="{escape(strip.color)}" d="{paths[0]}"/>'
    drawn += "" if len(paths) == 1 else f'<path class="rest-line" d="{paths[1]}"/>'
    box = f'aria-label="{escape(strip.words)}" viewBox="-1 -1 {WIDE + 2} {HIGH + 2}"'
    svg = f'<svg class="strip" role="img" {box}>{drawn}</svg>'
    if strip.levels is not None or strip.low is None:
        return svg
    ends = (escape(_end(end)) for end in (strip.low, strip.high))
    return f'{svg}<span class="ends" aria-hidden="true"><span>{"</span><span>".join(ends)}</span></span>'


def _end(value: Any) -> str:
    if isinstance(value, str):
        return value[:7]  # of a date, year and month
    return (f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}").replace("-", "−")


def _path(shares: Sequence[float], top: float, *, separate: bool) -> str:
    edges = np.linspace(0, WIDE, len(shares) + 1).round().astype(int)
    heights = [HIGH - round(HIGH * share / top) for share in shares]
    if not separate:
        return f"M0 {HIGH}" + "".join(f"V{y}H{b}" for b, y in zip(edges[1:], heights, strict=True)) + f"V{HIGH}"
    gap = 2 if len(shares) > 1 else 0
    bars = [(a, b - gap, y) for a, b, y in zip(edges, edges[1:], heights, strict=False) if y < HIGH]
    return "".join(f"M{a} {HIGH}V{y}H{b}V{HIGH}" for a, b, y in bars)
