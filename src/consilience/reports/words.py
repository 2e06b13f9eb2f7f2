"""How numbers and names are written everywhere, and what the words of reports mean."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import count

LONGEST = 160  # safeguard: letters of a table's cell, so that one long text does not fill the page
DEFINITIONS = {
    "confidence": "probability that an independent ensemble of the same kind puts the object in the same cluster; of a "
    "clustered table, times how far other kinds of clustering agree",
    "support": "share of an object's clusterings whose label for it is, by plurality, a label of its cluster",
    "floater": "an object with a support of at most one half",
    "stability": "adjusted Rand index of the answers of two halves of the clusterings; clouds without clusters are hardly ever above .95",
    "recurrence": "of a cluster: mean over clusterings of its largest Jaccard index with one of theirs",
    "nearest": "of a cluster: the one that most clusterings which disagree on its objects put them in",
    "confused": "of a cluster: the share of all clusterings' votes on its objects that go to the nearest cluster",
    "reliability": "of a clustering: how well it agrees with what the others say, however fine; 0 is chance, 1 if one refines the other",
    "weight": "how much a clustering says: the purer the other clusterings' labels are inside its clusters, the nearer to 1",
    "medoid": "the clustering with the least mean distance to the others of its group",
    "height": "of the tree, at which a group is complete: how far apart its clusterings are",
    "bend": "by how much the compactness of the groups jumps more at this number of groups than before it",
    "null": "what the best group reaches by chance: groups of the same sizes with shuffled members, combined in the same way",
    "stable component": "a set of objects that every clustering keeps together",
    "redundancy": "what the new clusters share with what was given, as mutual information I(C;Z)",
    "shared": "information about the objects that the new clusters and the given groups both tell",
    "compactness": "mean distance between objects of the same cluster: small is compact",
    "guide": "how well a clustering keeps to the pairs and labels that guided it: 0 by chance, 1 at most",
}


def is_missing(value: Any) -> bool:
    """Whether there is nothing to show: None, NaN or pandas' NA."""
    return value is None or value is pd.NA or (isinstance(value, float) and bool(np.isnan(value)))


def format_number(value: Any, decimals: int = 3) -> str:
    """A number with so many decimals, none from 1,000 on, and a dash where it is missing; never in powers of ten."""
    if is_missing(value):
        return "–"
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    text = f"{value:.{decimals}f}" if abs(value) < 1000 else f"{value:,.0f}"
    return text.removeprefix("-") if not text.strip("-0.") else text


def decimals_of(values: Iterable[Any]) -> int:
    """Decimals for a column of numbers: three, or as many as its largest needs for three digits."""
    floats = (abs(float(x)) for x in values if isinstance(x, (float, np.floating)) and np.isfinite(x))
    largest = max(floats, default=0.0)
    return 3 if not 0 < largest < 0.01 else int(min(12, 2 - np.floor(np.log10(largest))))


def format_cell(value: Any, decimals: int = 3) -> str:
    if isinstance(value, (list, tuple)):
        return shorten(", ".join(map(str, value)), LONGEST)
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if is_missing(value) or isinstance(value, (float, int, np.floating, np.integer)):
        return format_number(value, decimals)
    return shorten(str(value), LONGEST)


def format_name(name: Any) -> str:
    """A column's name as words: "nmi:vowel" is the nmi with vowel. What `measures.accuracy` gives is called purity, as in the field."""
    text = str(name).replace("accuracy:", "purity:", 1)
    text = f"{text.removesuffix('sem')}s.e." if text == "sem" or text.endswith("_sem") else text
    return text.replace("_", " ").replace(":", " with ", 1)


def format_list(values: Sequence[Any] | np.ndarray[Any, Any], most: int = 12) -> str:
    """The first of some values, and how many more there are."""
    shown = ", ".join(format_number(value) if not isinstance(value, str) else value for value in values[:most])
    return shown if len(values) <= most else f"{shown} … ({len(values) - most:,} more)"


def format_range(values: Iterable[int], noun: str = "") -> str:
    low, high = min(values), max(values)
    if low == high:
        return count(low, noun) if noun else f"{low:,}"
    return f"{low:,} to {high:,}" + (f" {noun}s" if noun else "")


def code_names(labels: Any, codes: Any) -> list[str]:
    """What the codes of labels stand for, in their order."""
    found, first = np.unique(codes, return_index=True)
    return [str(name) for name in np.asarray(labels, object)[first[found >= 0]]]


def shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
