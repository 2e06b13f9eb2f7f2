"""Code blocks of the README and of the pages of docs/: what they hold, what they print, and what they take for granted."""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
FOLDERS = ("docs", "docs/gallery")
PAGES = ["README.md", *(f"{folder}/{path.name}" for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.md")))]
FENCE = re.compile(
    r"(?:<!-- (?P<mark>not run|slow)(?:: (?P<reason>[^\n]*?))? -->\n+)?"
    r"^```(?P<kind>[^\n]*)\n(?P<code>.*?)^```$(?:\n\n^```(?:text)?\n(?P<output>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)


@dataclass
class Block:
    """A block of code, the line where it begins, its mark (``not run``, ``slow`` or none) and what the page says it prints."""

    kind: str
    code: str
    line: int
    mark: str | None
    reason: str | None
    output: str | None


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, kind: str) -> list[Block]:
    text = read(page)
    return [
        Block(kind, m["code"], text.count("\n", 0, m.start("code")), m["mark"], m["reason"], m["output"])
        for m in FENCE.finditer(text)
        if m["kind"] == kind
    ]


def run(page: str, block: Block, names: dict[str, Any]) -> str:
    """Run the block in `names`; what it prints, or what its last expression is, as a notebook would show."""
    tree = ast.parse(block.code)
    ast.increment_lineno(tree, block.line)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(tree, page, "exec"), names)
        value = eval(compile(ast.Expression(last.value), page, "eval"), names) if isinstance(last, ast.Expr) else None
    if not said.getvalue() and value is not None:
        return repr(value) + "\n"
    return said.getvalue()


def unknown_names(code: str) -> list[str]:
    """Names of consilience in `code` that are not there: modules, what is imported from them, attributes, keywords."""
    tree, known, wrong = ast.parse(code), {"cs": importlib.import_module("consilience")}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("consilience"):
            module = importlib.import_module(node.module or "")
            for alias in node.names:
                if hasattr(module, alias.name):
                    known[alias.asname or alias.name] = getattr(module, alias.name)
                else:
                    wrong.append(f"{node.module}.{alias.name}")
        elif isinstance(node, ast.Import):
            known.update(
                (alias.asname, importlib.import_module(alias.name))
                for alias in node.names
                if alias.asname and alias.name.startswith("consilience")
            )

    def resolve(node: ast.AST) -> Any:
        if isinstance(node, ast.Name):
            return known.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = resolve(node.value)
            if owner is None:
                return None
            if not hasattr(owner, node.attr):
                wrong.append(ast.unparse(node))
            return getattr(owner, node.attr, None)
        return None

    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (function := resolve(node.func)) is not None:
            parameters = inspect.signature(function).parameters
            if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
                wrong += [
                    f"{ast.unparse(node.func)}({k.arg}=)" for k in node.keywords if k.arg and k.arg not in parameters
                ]
        elif isinstance(node, ast.Attribute):
            resolve(node)
    return sorted(set(wrong))


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and MyST make it."""
    words = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip()).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def anchors(path: Path) -> set[str]:
    """Of the headings of a page, and of what it includes."""
    whole = path.read_text(encoding="utf-8")
    included = re.findall(r"^```\{include\} (\S+)$", whole, re.MULTILINE)
    text = re.sub(r"^```.*?^```$", "", whole, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#{1,4} (.+)$", text, re.MULTILINE)
    there = set().union(*(anchors(path.parent / other) for other in included))
    return there | {slug(heading) for heading in headings} | set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))
