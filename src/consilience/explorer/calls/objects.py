"""The objects of a clustering, page by page: ids, clusters, confidence and support, known labels, the first columns of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from consilience._types import Array, Ints
from consilience.explorer.calls.call import Call
from consilience.explorer.codec import Reply, json_reply
from consilience.explorer.session import Session
from consilience.explorer.snapshot import DisplayedClustering
from consilience.explorer.validation import ALL, objects_query

COLUMNS = 8  # of the data


def answer(call: Call) -> Reply:
    """Some rows of the table of objects."""
    session, one, asked = call.session, call.clustering(), objects_query(call.query)
    chosen = _chosen(one, asked["cluster"], asked["order"])
    rows = chosen[asked["start"] : asked["start"] + asked["count"]]
    names = session.features[:COLUMNS]
    values = _values(session, rows, len(names))
    return json_reply(
        {
            "revision": call.snapshot.revision,
            "ref": str(one.ref),
            "total": len(chosen),
            "names": one.names,
            "columns": names,
            "rows": [
                {
                    "index": i,
                    "id": session.name_of(i),
                    "cluster": one.codes[i],
                    "name": one.name_of(one.codes[i]),
                    "confidence": _of_object(one, one.confidence, i),
                    "support": _of_object(one, one.support, i),
                    "known": {
                        name: known.classes[known.codes[i]] if known.codes[i] >= 0 else None
                        for name, known in session.known.items()
                    },
                    "values": dict(zip(names, row, strict=True)),
                }
                for i, row in zip(rows, values, strict=True)
            ],
        }
    )


def _of_object(one: DisplayedClustering, values: Array | None, i: int) -> float | None:
    return None if values is None or one.codes[i] < 0 else values[i]


def _chosen(one: DisplayedClustering, cluster: int, order: str) -> Ints:
    chosen = np.arange(len(one.codes)) if cluster == ALL else np.flatnonzero(one.codes == cluster)
    values = None if order == "index" else getattr(one, order)
    if values is not None:
        chosen = chosen[np.lexsort((values[chosen], one.codes[chosen] < 0))]  # what has no cluster comes last
    return chosen


def _values(session: Session, rows: Ints, width: int) -> list[list[Any]]:
    if not width or session.data is None:
        return [[] for _ in rows]
    some = session.data.values[rows][:, :width]
    table: list[list[Any]] = (some.toarray() if sparse.issparse(some) else some).tolist()
    return table
