"""Reads a report as a browser does, as far as tests need it."""

import re
from html import unescape
from html.parser import HTMLParser

import pandas as pd

import consilience as cs

VOID = {"meta", "br", "img", "link", "hr", "input"}


class Page(HTMLParser):
    """Tags with their attributes, the text, and whether all is closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.texts, self._open, self.problems = [], [], [], []
        self.feed(text)
        self.close()
        self.problems += [f"{tag} is not closed" for tag in self._open]

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self._open or self._open.pop() != tag:
            self.problems.append(f"{tag} ends out of order")

    def handle_data(self, data):
        if self._open and self._open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]

    def check(self):
        """What holds for every report: well formed, no script, nothing from elsewhere, everything named."""
        assert not self.problems
        names = {name for name, _ in self.tags}
        assert not names & {"script", "iframe", "object", "embed", "link", "base", "form", "img"}
        for name, attrs in self.tags:
            assert not [key for key in attrs if key.startswith("on")], name
            for key in ("src", "href", "xlink:href", "action"):
                assert str(attrs.get(key, "#")).startswith(("#", "data:image/png;base64,")), (name, attrs[key])
        ids = [attrs["id"] for _, attrs in self.tags if "id" in attrs]
        assert len(ids) == len(set(ids))
        targets = {attrs["href"][1:] for attrs in self.all("a")}
        assert targets <= set(ids)
        assert all(attrs.get("role") == "img" and attrs.get("aria-label") for attrs in self.all("svg"))
        assert len(self.all("caption")) == len(self.all("table"))
        assert all(attrs.get("scope") in ("row", "col") for attrs in self.all("th"))
        assert len(self.all("h1")) == 1
        assert "default-src 'none'" in str(self.all("meta"))
        return self


def read_page(path):
    """The checked page of a file."""
    return Page(path.read_text(encoding="utf-8")).check()


def report_page(result, path, **options):
    """The checked page of a result."""
    cs.report(result, path, **options)
    return read_page(path)


def lines_of(path):
    """The lines of Python of a page, of which the last writes it."""
    return next(part for part in read_page(path).texts if "import consilience as cs" in part).strip().split("\n")


def read_table(path, caption):
    """The table of a report whose caption begins so, as a frame of text by its first column."""
    tables = re.findall(r"<caption>(.*?)</table>", path.read_text(encoding="utf-8"), re.DOTALL)
    found = [table for table in tables if re.sub(r"^Table \d+\. ", "", words(table)).startswith(caption)]
    assert len(found) == 1, caption
    lines = re.findall(r"<tr.*?</tr>", found[0], re.DOTALL)
    heads, *rows = ([words(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", line, re.DOTALL)] for line in lines)
    return pd.DataFrame(rows, columns=heads).set_index(heads[0])


def words(markup):
    return unescape(re.sub(r"<[^>]*>", "", markup))
