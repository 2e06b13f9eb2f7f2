"""Clusterings edited by hand: clusters renamed, merged and split, objects moved; every edit makes a new clustering.

What an edit makes is never changed again, so that undoing is going back to the one before. Its number comes out of what it
holds: it is the same in every session, on every machine.
"""

import base64
import json
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from consilience._check import InputError, count, fingerprint, printable
from consilience._types import Ints, Labels
from consilience.meta.tree import LINKAGES

NAME = 80  # safeguard: letters of the name of a cluster
EDITS = 500  # safeguard: edited clusterings that are kept in memory
NUMBERS = 10**9  # safeguard: refs have nine digits
BASE = re.compile(r"[0-9]{1,9}m|[0-9]{1,9}\.[0-9]{1,9}c[0-9]{0,4}")  # refs that last: a clustering, or a consensus
DOINGS = {  # what can be done, and what is kept of it
    "rename": ("cluster", "name"),
    "merge": ("clusters", "name"),
    "move": ("rows", "name"),
    "split": ("cluster", "by", "linkage", "seen", "names"),
}
Step = dict[str, Any]  # what was done, by names of clusters and numbers of objects


@dataclass(frozen=True, eq=False)
class Edited:
    codes: Labels = field(repr=False)  # clusters 0 … k − 1, −1 missing
    names: list[str]
    base: str  # the ref of the clustering that the first edit was made of
    linkage: str  # of the tree that the base is numbered in
    origin: str  # the base in words
    seen: str = ""  # fingerprint of the base's labels: its number may be given to another once it was taken away
    steps: tuple[Step, ...] = field(default=(), repr=False)  # the edits, the first one first

    @cached_property
    def number(self) -> int:
        """Its name in refs: out of all that it holds."""
        told = [self.names, self.base, self.linkage, self.origin, self.seen, self.steps]
        said = np.frombuffer(json.dumps(told).encode(), np.uint8)
        return int(fingerprint(self.codes, said)[:12], 16) % NUMBERS

    @property
    def title(self) -> str:
        return f"edited from {self.origin}"

    def _with(self, codes: Any, names: Sequence[str], step: Step) -> "Edited":
        """The next one, without clusters that lost all objects."""
        counts = np.bincount(codes[codes >= 0], minlength=len(names))
        place = np.append(np.cumsum(counts > 0) - 1, -1)
        left = [name for name, n in zip(names, counts, strict=True) if n]
        made = place[codes].astype(np.int32)
        return Edited(made, left, self.base, self.linkage, self.origin, self.seen, (*self.steps, step))

    def _cluster(self, name: str) -> int:
        if name not in self.names:
            raise InputError(f"there is no cluster {name!r} here: it was renamed or merged before")
        return self.names.index(name)

    def rename(self, cluster: str, name: str) -> "Edited":
        at, new = self._cluster(cluster), checked_name(name)
        if new in self.names:
            raise InputError(f"there is a cluster {new!r} already: merge the two, or choose another name")
        names = [new if i == at else one for i, one in enumerate(self.names)]
        return self._with(self.codes, names, {"do": "rename", "cluster": cluster, "name": new})

    def merge(self, clusters: Sequence[str], name: str = "") -> "Edited":
        places = sorted({self._cluster(cluster) for cluster in clusters})
        if len(places) < 2:
            raise InputError("merging takes at least two clusters")
        said = [self.names[at] for at in places]
        new = checked_name(name or " + ".join(said)[:NAME])
        if new in self.names and new not in said:
            raise InputError(f"there is a cluster {new!r} already: choose another name")
        names = [new if at == places[0] else one for at, one in enumerate(self.names)]
        codes = np.where(np.isin(self.codes, places), places[0], self.codes)
        return self._with(codes, names, {"do": "merge", "clusters": said, "name": new})

    def move(self, rows: Ints, name: str) -> "Edited":
        """Objects in the cluster of a name, which is made if there is none."""
        new = checked_name(name)
        names = self.names if new in self.names else [*self.names, new]
        codes = self.codes.copy()
        codes[rows] = names.index(new)
        return self._with(codes, names, {"do": "move", "rows": [int(row) for row in rows], "name": new})

    def split(self, cluster: str, by: str, linkage: str, parts: Labels, called: Sequence[str]) -> "Edited":
        """A cluster in the parts in which another clustering, the ref `by` in the tree of a linkage, has its objects."""
        at = self._cluster(cluster)  # objects that the other has nowhere stay under its name
        rows = (self.codes == at) & (parts >= 0)
        found = np.unique(parts[rows])
        if len(found) + bool(np.any((self.codes == at) & (parts < 0))) < 2:
            raise InputError(f"that clustering has all objects of {cluster!r} together: choose another one to split by")
        wanted = [f"{cluster[: NAME // 2]} · {called[part]}" for part in found]
        new, codes = distinct_names(wanted, self.names), self.codes.copy()
        codes[rows] = len(self.names) + np.searchsorted(found, parts[rows])
        step: Step = {"do": "split", "cluster": cluster, "by": by, "linkage": linkage, "seen": seen_in(parts)}
        step["names"] = dict(zip(map(str, found.tolist()), new, strict=True))
        return self._with(codes, [*self.names, *new], step)

    @cached_property
    def written(self) -> str:
        """It as JSON, labels as bytes of base64; kept, since every change of a view is written down."""
        packed = base64.b64encode(zlib.compress(self.codes.astype("<i4").tobytes(), 6)).decode()
        told = {name: getattr(self, name) for name in ("names", "base", "linkage", "origin", "seen")}
        return json.dumps({**told, "steps": list(self.steps), "codes": packed}, ensure_ascii=False)

    @classmethod
    def parsed(cls, content: Any, n_objects: int) -> "Edited":
        """It from JSON; ValueError, KeyError or TypeError where that is none of so many objects."""
        packed = base64.b64decode(content["codes"], validate=True)
        try:
            data = zlib.decompressobj().decompress(packed, 4 * n_objects + 1)
        except zlib.error:
            raise ValueError("no labels") from None
        codes = np.frombuffer(data, "<i4").astype(np.int32)
        names = [checked_name(name) for name in content["names"]]
        base, linkage, origin, seen = texts = [content[name] for name in ("base", "linkage", "origin", "seen")]
        if len(codes) != n_objects or len(set(names)) < len(names) or not all(isinstance(one, str) for one in texts):
            raise ValueError("labels of other objects")
        if codes.min(initial=-1) < -1 or not np.array_equal(np.unique(codes[codes >= 0]), np.arange(len(names))):
            raise ValueError("clusters without objects")
        steps = tuple(_checked_step(step) for step in content["steps"])
        if linkage not in LINKAGES or not BASE.fullmatch(base) or origin != clean(origin):
            raise ValueError("where it comes from")
        return cls(codes, names, base, linkage, origin, seen, steps)


def _checked_step(step: Any) -> Step:
    """One edit of a file that somebody sent, fit to be said in words."""
    kept = {key: step[key] for key in DOINGS[step["do"]]}
    kinds = {"clusters": list, "rows": list, "names": dict}
    fits = all(isinstance(value, kinds.get(key, str)) for key, value in kept.items())
    if not fits or not all(isinstance(name, str) for name in kept.get("clusters", ())):
        raise ValueError("an edit that nobody can make")
    return {"do": step["do"], **kept}


def checked_name(name: Any) -> str:
    """The name of a cluster as it is kept, of a call and of a file alike; refused where it is none."""
    if not isinstance(name, str) or not clean(name) or len(name.strip()) > NAME:
        raise InputError(f"the name of a cluster has 1 to {NAME} letters")
    return clean(name)


def clean(text: Any) -> str:
    """Words as they are kept: without blanks around them and control characters, cut; what is clean stays as it is."""
    return printable(str(text).strip(), keep="")[:NAME].strip()


def distinct_names(given: Iterable[Any], taken: Iterable[str] = ()) -> list[str]:
    """Clean names, all different and none empty: one that comes again gets a number, an empty one its position."""
    used, again = set(taken), dict[str, int]()
    found = []
    for position, name in enumerate(given):
        text = new = clean(name) or str(position)
        while new in used:
            again[text] = again.get(text, 1) + 1
            ending = f" ({again[text]})"
            new = text[: NAME - len(ending)].rstrip() + ending
        used.add(new)
        found.append(new)
    return found


def seen_in(codes: Labels) -> str:
    """A fingerprint of the labels of a clustering, whatever their type."""
    return fingerprint(np.ascontiguousarray(codes, np.int32))[:16]


def in_words(step: Step) -> str:
    if step["do"] == "rename":
        return f"{step['cluster']} renamed to {step['name']}"
    if step["do"] == "merge":
        return f"{' and '.join(step['clusters'])} merged to {step['name']}"
    if step["do"] == "move":
        return f"{count(len(step['rows']), 'object')} put into {step['name']}"
    return f"{step['cluster']} split as clustering {step['by']} does"
