"""Clusterings in several files, joined by the names of their objects."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, count, fingerprint, listed, show
from consilience._types import Array
from consilience.ensemble import Ensemble
from consilience.inputs.provenance import Opened, Provenance
from consilience.tables.column_types import text_of
from consilience.tables.raw_table import PARSING

_TEXT = re.compile(r"\.(csv|tsv|txt)(\.(gz|bz2|xz))?$")
_NUMBER, _LEADING = re.compile(r"\d+(\.0)?"), re.compile(r"^0+(?=\d)")


def columns_there(columns: Any, names: Sequence[str], anywhere: Collection[str]) -> Any:
    """Of names and patterns of columns, also of what to leave out, those that a file has or none of the files has, so that this is said."""
    asked = [columns] if isinstance(columns, (str, int)) else list(columns)
    there = [one for one in asked if not isinstance(one, str) or _matches(one, names) or not _matches(one, anywhere)]
    leaves_out = all(isinstance(one, str) and _bare(one, anywhere) != one for one in asked)
    return there or (None if leaves_out else asked)


def _matches(column: str, names: Collection[str]) -> bool:
    pattern = _bare(column, names)
    return any(name == pattern or fnmatchcase(name, pattern) for name in names) or column.isdigit()


def _bare(column: str, names: Collection[str]) -> str:
    """A name or pattern without the sign that says to leave it out."""
    return column[1:] if column[:1] in ("-", "!") and column not in names else column


def fitting(path: Any, reading: Mapping[str, Any]) -> dict[str, Any]:
    """What was said of how to read several files, without what is only for files of another kind."""
    name = str(path).lower()
    fits = set(reading) - {"key", *PARSING}
    fits |= set(PARSING) if _TEXT.search(name) else {"header"} if name.endswith(".xlsx") else set()
    fits |= {"key"} if name.endswith((".npz", ".xlsx", ".h5ad")) else set()
    return {option: value for option, value in reading.items() if option in fits}


def joined(parts: Sequence[Opened], said_of_reading: str = "") -> Opened:
    """What several sources hold of the same objects as one: by id, else row by row; an object that one lacks has no label there."""
    if len(parts) == 1:
        return parts[0]
    sources = [part.provenance.source for part in parts]
    ids, rows = _objects([part.ensemble for part in parts], sources)
    n = max(int(one.max()) for one in rows) + 1
    shared = Counter(name for part in parts for name in part.ensemble.names)
    origins = [part.provenance for part in parts]
    same = Counter(one.name for one in origins)  # where another has the same name, its folder tells them apart
    folders = [f"{one.path.parent.name}/" if same[one.name] > 1 and one.path is not None else "" for one in origins]
    called = [f"{folder}{one.name}" for folder, one in zip(folders, origins, strict=True)]
    made = []
    for part, at, file in zip(parts, rows, called, strict=True):
        codes = np.full((n, part.ensemble.n_clusterings), -1, np.int32)
        codes[at] = part.ensemble.labels
        names = [f"{name} ({file})" if shared[name] > 1 else name for name in part.ensemble.names]
        info = part.ensemble.info.assign(name=names)
        made.append(Ensemble.from_codes(codes, label_names=part.ensemble.label_names, info=info, ids=ids))
    ensemble = Ensemble.concat(made)
    known: dict[str, Any] = {}
    for part, at in zip(parts, rows, strict=True):
        for name, values in part.known.items():
            whole = known.setdefault(name, np.full(n, None, object))
            own = np.asarray(values, object)
            empty = np.array([one is None for one in whole[at]])
            whole[at[empty]] = own[empty]
    everywhere = int((np.bincount(np.concatenate(rows), minlength=n) == len(parts)).sum())
    how = "row by row, since they have no ids" if ids is None else "by id"
    said = f"{listed(sources)}: joined {how}: {count(n, 'object')}"
    said += "" if everywhere == n else f", {everywhere:,} of them in every file"
    first, places = parts[0], [str(part.provenance.path or "") for part in parts]
    code = f"cs.inputs.open_source({places!r}, kind='labels'{said_of_reading}).ensemble" if all(places) else ""
    run = fingerprint(ensemble.labels)[:16]
    provenance = Provenance(first.provenance.name, listed(sources), first.provenance.path, run, code)
    notices = (*(notice for part in parts for notice in part.notices), said)
    data = first.data if n == len(rows[0]) else None
    return Opened(ensemble, provenance, data, known, "labels", notices, first.id_name)


def _objects(ensembles: Sequence[Ensemble], sources: Sequence[str]) -> tuple[Array | None, list[Array]]:
    """The ids of all objects, those of the first source first, and which of them the rows of each source are."""
    named, remedy = [one.ids is not None for one in ensembles], "name the column of ids with id_column= (--id)"
    if not any(named):
        sizes = list(dict.fromkeys(one.n_objects for one in ensembles))
        if len(sizes) > 1:
            what = f"{sources[0]} has {count(sizes[0], 'object')} and another file {sizes[1]:,}"
            raise InputError(f"{what}, and none has ids to join them by: {remedy}")
        return None, [np.arange(sizes[0])] * len(ensembles)
    if not all(named):
        what = f"{sources[named.index(False)]} has no ids, and {sources[named.index(True)]} has"
        raise InputError(f"{what}: files are joined by them, so add a column of ids to it, or {remedy}")
    every = _comparable([one.ids for one in ensembles if one.ids is not None])
    together = every[0]
    for own, source in zip(every[1:], sources[1:], strict=True):
        if not own.isin(together).any():
            what = f"{sources[0]} and {source} share no id: they have {show(together[0])} and {show(own[0])}"
            raise InputError(f"{what}; {remedy}, and see that these are the same objects")
        together = together.append(own[~own.isin(together)])
    ids, more = ensembles[0].ids, together[len(every[0]) :]
    if ids is not None and len(more):
        ids = np.array([*ids, *more], object)
    return ids, [together.get_indexer(own) for own in every]


def _comparable(ids: Sequence[Array]) -> list[pd.Index]:
    """Names as text; numbers as such where all are, so that 80, 80.0 and 080 are one, unless two of a file were."""
    texts = [pd.Index([text_of(name) for name in some]) for some in ids]
    if all(_NUMBER.fullmatch(text) for some in texts for text in some):
        bare = [pd.Index([_LEADING.sub("", text.removesuffix(".0")) for text in some]) for some in texts]
        texts = bare if all(some.is_unique for some in bare) else texts
    return texts
