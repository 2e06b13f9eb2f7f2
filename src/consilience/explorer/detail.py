"""One clustering in detail: its clusters, what marks them, what made it, how sure each object is, what is known."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience.explorer.codec import Reply, json_reply
from consilience.explorer.features import marks
from consilience.explorer.session import Session
from consilience.explorer.snapshot import Edition, Ref, Shown
from consilience.generation import METHODS, describe
from consilience.measures import accuracy

WEIGHTS, FLOATERS, BINS = 30, 100, 20
THRESHOLD = 0.5  # an object floats if no majority of the branch puts it where it is
CELLS = 100_000  # of a table of clusters × classes that is still sent
BESIDE = ("weights", "settings", "name", "number")  # columns of info that are told elsewhere


def detail_reply(session: Session, edition: Edition, ref: Ref) -> Reply:
    """Everything about one clustering but its objects."""
    return edition.cache.get(("detail", str(ref)), lambda: _detail(session, edition, ref))


def _detail(session: Session, edition: Edition, ref: Ref) -> Reply:
    one = edition.shown(ref)
    row = None if one.leaf is None else edition.meta.ensemble.info.iloc[one.leaf]
    return json_reply(
        {
            "revision": edition.revision,
            "ref": str(ref),
            "node": ref.node,
            "leaf": one.leaf,
            "name": title(edition, one),
            "size": one.size,
            "clusters": one.clusters,
            "sizes": np.bincount(one.codes[one.codes >= 0], minlength=one.clusters),
            "n_missing": int(np.count_nonzero(one.codes < 0)),
            "scores": {} if one.leaf is None else dict(edition.scores.iloc[one.leaf]),
            "made": None if row is None else _made(row),
            "weights": None if row is None else _weights(session, row),
            "features": marks(session, one) if session.features else None,
            "confidence": _confidence(one),
            "floaters": floaters(session, one),
            "known": [_known(name, known, one) for name, known in session.known.items()],
        }
    )


def title(edition: Edition, one: Shown) -> str:
    """What a clustering is called."""
    if one.leaf is None:
        return f"consensus of {one.size:,}"
    name = edition.meta.ensemble.names[one.leaf]
    return name if one.size == 1 else f"{name}, medoid of {one.size:,}"


def _made(row: pd.Series) -> dict[str, Any]:
    """How a clustering was made: the cells of its info that hold something, and the settings of its run."""
    cells = {str(name): value for name, value in row.items() if name not in BESIDE}
    made = {name: value for name, value in cells.items() if np.ndim(value) > 0 or not pd.isna(value)}
    if words := describe(row):
        made = {"made by": words, **made}
    settings = row.get("settings")
    if isinstance(settings, str):
        try:
            made["parameters"] = json.loads(settings)
        except ValueError:
            made["parameters"] = settings
    return made


def _weights(session: Session, row: pd.Series) -> list[dict[str, Any]] | None:
    """The largest weights of the columns, or of the components, that it was made with."""
    weights = row.get("weights")
    if weights is None or np.ndim(weights) == 0:
        return None
    values = np.asarray(weights, float)
    names = session.features
    if row.get("method") in METHODS and METHODS[row["method"]].space != "columns":
        names = [f"{METHODS[row['method']].space.removesuffix('s')} {i + 1}" for i in range(len(values))]
    elif len(names) != len(values):
        names = [f"column {i}" for i in range(len(values))]
    order = np.argsort(-values, kind="stable")[:WEIGHTS]
    return [{"feature": names[i], "weight": values[i]} for i in order]


def _confidence(one: Shown) -> dict[str, Any] | None:
    if one.confidence is None:
        return None
    known = one.confidence[one.codes >= 0]
    return {
        "mean": float(known.mean()) if known.size else None,
        "histogram": np.histogram(known, BINS, (0, 1))[0],
        "n_floaters": len(_floating(one)),
        "threshold": THRESHOLD,
    }


def _floating(one: Shown) -> NDArray[np.int64]:
    """The objects that no majority of the branch puts where they are, the least sure first."""
    if one.confidence is None:
        return np.empty(0, np.int64)
    floating = np.flatnonzero((one.codes >= 0) & (one.confidence <= THRESHOLD))
    return floating[np.argsort(one.confidence[floating], kind="stable")]


def floaters(session: Session, one: Shown) -> list[dict[str, Any]]:
    """The least sure objects, at most 100."""
    return [
        {
            "index": i,
            "id": session.name_of(i),
            "cluster": one.codes[i],
            "confidence": one.confidence[i],  # type: ignore[index]
        }
        for i in _floating(one)[:FLOATERS]
    ]


def _known(name: str, known: Any, one: Shown) -> dict[str, Any]:
    fits = one.clusters * len(known.classes) <= CELLS
    both = (known.codes >= 0) & (one.codes >= 0)
    return {
        "name": name,
        "accuracy": accuracy(known.codes, one.codes) if both.any() else None,
        "table": _table(one.codes, known.codes, (one.clusters, len(known.classes))) if fits else None,
        "labels": known.classes if fits else [],
    }


def _table(codes: NDArray[np.int32], known: NDArray[np.int32], shape: tuple[int, int]) -> NDArray[np.int64]:
    both = (codes >= 0) & (known >= 0)
    return np.bincount(codes[both] * np.int64(shape[1]) + known[both], minlength=shape[0] * shape[1]).reshape(shape)
