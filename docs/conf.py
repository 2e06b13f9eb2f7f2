"""The site: `make docs`."""

import re
from importlib.metadata import version as installed
from typing import Any

project = "consilience"
author = "the consilience developers"
project_copyright = author
release = version = installed("consilience")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_design",
]
exclude_patterns = ["_build"]
nitpicky = False
suppress_warnings = ["ref.python"]  # `n_clusters` is an attribute of several classes
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the docstrings say them, in words
autodoc_member_order = "bysource"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False

html_theme = "pydata_sphinx_theme"
html_title = "consilience"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "navbar_center": ["links.html"],
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "**": ["contents.html"]}
html_show_sourcelink = False


def plain_text(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Docstrings speak of `labels_`, |A| and "leiden_" as plain text, which reStructuredText would take for links and substitutions."""
    code = False
    for i, line in enumerate(lines):
        code = line.lstrip().startswith((">>>", "...")) or (code and bool(line.strip()))
        if code:
            continue
        named = re.match(r"\s*[\w, *]+ : |", line)  # parameters and attributes: napoleon sees to their names
        start = named.end() if named else 0
        parts = re.split(r"(``.*?``|:\w+:`[^`]*`|`[^`]*`)", line[start:])
        parts[::2] = [re.sub(r"(?<=\w)_(?!\w)", r"\\_", part).replace("|", r"\|") for part in parts[::2]]
        lines[i] = line[:start] + "".join(parts)


def whole_gallery(app: Any, name: str, source: list[str]) -> None:
    """Pages of the gallery are plain Markdown, to be read anywhere; the site adds the scripts, and the list of the pages to the index."""
    folder, _, page = name.rpartition("/")
    if folder != "gallery":
        return
    if page == "index":
        pages = re.findall(r"^\[!\[.*\]\((\w+)\.md\)$", source[0], re.MULTILINE)
        source[0] += "\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n"
    else:
        source[0] += f"\n```{{literalinclude}} {page}.py\n```\n"


def setup(app: Any) -> None:
    """Before napoleon reads the sections, and before MyST reads the pages."""
    app.connect("source-read", whole_gallery)
    app.connect("autodoc-process-docstring", plain_text, priority=400)
