"""One clustering in detail: its clusters, what marks them, what made it, confidence and support of its objects, what is known."""

import json
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from consilience import _kernels
from consilience._check import InputError
from consilience._types import Floats
from consilience.consensus.trust.clusters_and_members import cluster_means
from consilience.consensus.trust.floaters import FLOATING
from consilience.explorer.calls.call import Call, kept
from consilience.explorer.edits import in_words
from consilience.explorer.explorer_json import Known
from consilience.explorer.replies import Reply
from consilience.explorer.session import Session
from consilience.explorer.snapshot import DisplayedClustering, Snapshot
from consilience.generation import METHODS
from consilience.generation.methods import describe
from consilience.generation.spaces import GenerationWarning
from consilience.measures import accuracy
from consilience.measures.spreads_and_top_words import marks, top_words

WEIGHTS, FLOATERS, MEMBERS, BINS = 30, 100, 100, 20  # safeguard: length of lists that are displayed
CELLS = 100_000  # safeguard: of a table of clusters × classes that is still sent
BESIDE = ("weights", "settings", "name", "number")  # columns of info that are told elsewhere
TOP, DESCRIBED = 8, 60  # safeguard: columns for each cluster, and clusters that they mark, in a display


@kept
def detail(call: Call) -> Reply:
    session, snapshot, one = call.session, call.snapshot, call.clustering()
    row = None if one.leaf is None else snapshot.meta.ensemble.info.iloc[one.leaf]
    made: dict[str, Any] | None = {"combined": one.note} if one.note else None
    if one.edited is not None:
        made = {"edited from": one.edited.origin, "edits": [in_words(step) for step in one.edited.steps]}
    return call.reply(
        ref=str(one.ref),
        node=one.ref.node,
        leaf=one.leaf,
        name=title(snapshot, one),
        size=one.size,
        clusters=one.clusters,
        names=one.names,
        sizes=np.bincount(one.codes[one.codes >= 0], minlength=one.clusters),
        trust=_trust(one),
        members=_members(one),
        n_missing=np.count_nonzero(one.codes < 0),
        scores={} if one.leaf is None else dict(snapshot.scores.iloc[one.leaf]),
        made=made if row is None else _made(row),
        weights=None if row is None else _weights(session, row),
        features=_marks(call, one) if session.features else None,
        confidence=_histogram(one, one.confidence),
        support=_histogram(one, one.support),
        n_floaters=len(one.floaters),
        floating=FLOATING,
        floaters=floater_rows(session, one),
        known=_all_known(call, one),
    )


def title(snapshot: Snapshot, one: DisplayedClustering) -> str:
    if one.edited is not None:
        return one.edited.title
    if one.leaf is None:
        return f"consensus of {one.size:,}" + (f" in {one.ref.k} clusters" if one.ref.k else "")
    name = snapshot.meta.ensemble.names[one.leaf]
    return name if one.size == 1 else f"{name}, medoid of {one.size:,}"


def _made(row: pd.Series) -> dict[str, Any]:
    """How a clustering was made: the cells of its info that hold something, and the settings of its run."""
    cells = {str(name): value for name, value in row.items() if name not in BESIDE}
    made = {name: value for name, value in cells.items() if np.ndim(value) > 0 or not pd.isna(value)}
    if words := describe(row):
        made = {"made by": words, **made}
    settings = row.get("settings")
    if isinstance(settings, str):
        made["parameters"] = settings
        with suppress(ValueError):
            made["parameters"] = json.loads(settings)
    return made


def _weights(session: Session, row: pd.Series) -> list[dict[str, Any]] | None:
    values = weights_of(row.get("weights"))
    if values is None:
        return None
    names = weight_names(session, row, len(values))
    return [{"feature": names[i], "weight": values[i]} for i in np.argsort(-values, kind="stable")[:WEIGHTS]]


def _marks(call: Call, one: DisplayedClustering) -> list[dict[str, Any]]:
    """For every cluster its columns of the largest |d|; of counts also the words that name it."""
    found = marks(call.session.compared, one.codes, min(one.clusters, DESCRIBED), TOP, call.step)
    words = top_words(found) if call.session.compared.is_counts else [None] * len(found)
    both = enumerate(zip(found, words, strict=True))
    return [{"cluster": cluster, "top": top, "called": called} for cluster, (top, called) in both]


def _histogram(one: DisplayedClustering, values: Any) -> dict[str, Any] | None:
    if values is None:
        return None
    known = values[one.codes >= 0]
    return {"mean": known.mean() if known.size else None, "histogram": np.histogram(known, BINS, (0, 1))[0]}


def _trust(one: DisplayedClustering) -> dict[str, Any] | None:
    if one.confidence is None or one.support is None:
        return None
    table = cluster_means(one.codes, one.confidence, one.support)
    return dict(table[["confidence", "support", "floaters"]].to_dict("list"))


def _members(one: DisplayedClustering) -> dict[str, Any] | None:
    """Reliability of the clusterings of a consensus, as in :attr:`Consensus.members`: the least reliable, at most 100."""
    if one.members is None:
        return None
    shown = one.members.head(MEMBERS).to_dict("list")
    return {**shown, "n_better_without": one.members["better_without"].sum()}


def floater_rows(session: Session, one: DisplayedClustering) -> list[dict[str, Any]]:
    if one.confidence is None or one.support is None:
        return []
    return [
        {"index": i, "id": session.name_of(i), "cluster": one.codes[i]}
        | {"confidence": one.confidence[i], "support": one.support[i]}
        for i in one.floaters[:FLOATERS]
    ]


def _all_known(call: Call, one: DisplayedClustering) -> list[dict[str, Any]]:
    """Every known labeling; of a consensus also how near the medoid of the same clusterings comes, which is what other views may show."""
    found = [_known(name, known, one) for name, known in call.session.labelings.items()]
    if found and one.leaf is None and one.edited is None:
        medoid = call.snapshot.displayed(one.ref._replace(kind="m", k=0), call.step).codes
        for told, known in zip(found, call.session.labelings.values(), strict=True):
            told["medoid"] = accuracy(known.codes, medoid)
    return found


def _known(name: str, known: Known, one: DisplayedClustering) -> dict[str, Any]:
    told, shape = {"name": name, "accuracy": accuracy(known.codes, one.codes)}, (one.clusters, len(known.classes))
    if shape[0] * shape[1] > CELLS:
        return {**told, "table": None, "labels": []}
    return {**told, "table": _kernels.contingency(one.codes, known.codes, shape), "labels": known.classes}


# What the weights of a clustering are weights of: columns, or components named by the columns that make them.

LOADED, MUCH = 3, 0.5  # safeguard: columns that name a component, and the share of the largest loading that they need
LOADING_CELLS = 2 * 10**7  # safeguard: of the data whose components are found again; more takes seconds


def weights_of(weights: Any) -> Floats | None:
    """A cell of info as numbers; None where a clustering was made without weights."""
    return None if weights is None or np.ndim(weights) == 0 else np.asarray(weights, float)


def space_of(method: Any) -> str:
    """What a method weighs: "columns", "components" or another space."""
    return METHODS[method].space if isinstance(method, str) and method in METHODS else "columns"


def weight_names(session: Session, row: pd.Series, width: int) -> list[str]:
    """What each weight is of; components with the columns that they are made of mostly."""
    space = space_of(row.get("method"))
    if space == "columns":
        return session.features if len(session.features) == width else [f"column {i}" for i in range(width)]
    plain = [f"{space.removesuffix('s')} {i + 1}" for i in range(width)]
    loadings = loadings_of(session, row) if space == "components" else None
    if loadings is None or loadings.shape != (len(session.features), width):
        return plain
    return [f"{name} ({loaded_columns(session.features, loadings[:, i])})" for i, name in enumerate(plain)]


def loadings_of(session: Session, row: pd.Series) -> Floats | None:
    """Columns × components of a clustering of principal components; None where they cannot be found again."""
    data = session.data
    if data is None or data.kind == "distances" or session.other_data or np.prod(data.values.shape) > LOADING_CELLS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GenerationWarning)  # what was left out was said when the run was made
            return session.variations.loadings(row)
    except InputError:  # made from other data, or with a base that is not here
        return None


def loaded_columns(names: list[str], loadings: Any) -> str:
    size = np.abs(np.asarray(loadings))
    order = [i for i in np.argsort(-size, kind="stable")[:LOADED] if size[i] >= MUCH * size.max() > 0]
    if not order:
        return "nothing"
    first = "−" if loadings[order[0]] < 0 else ""
    return first + names[order[0]] + "".join(f" {'+' if loadings[i] > 0 else '−'} {names[i]}" for i in order[1:])
