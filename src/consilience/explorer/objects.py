"""The objects of a clustering, page by page: ids, clusters, confidence, known labels and the first columns of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience.explorer.codec import Reply, json_reply
from consilience.explorer.session import Session
from consilience.explorer.snapshot import Edition, Ref, Shown

COLUMNS = 8  # of the data
ALL = -2  # what `cluster` says for all of them; −1 is missing


def objects_reply(
    session: Session, edition: Edition, ref: Ref, *, start: int, count: int, cluster: int, order: str
) -> Reply:
    """Some rows of the table of objects."""
    one = edition.shown(ref)
    chosen = _chosen(one, cluster, order)
    rows = chosen[start : start + count]
    names = session.features[:COLUMNS]
    values = _values(session, rows, len(names))
    return json_reply(
        {
            "revision": edition.revision,
            "ref": str(ref),
            "total": len(chosen),
            "columns": names,
            "rows": [
                {
                    "index": i,
                    "id": session.name_of(i),
                    "cluster": one.codes[i],
                    "confidence": None if one.confidence is None or one.codes[i] < 0 else one.confidence[i],
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


def _chosen(one: Shown, cluster: int, order: str) -> NDArray[np.int64]:
    chosen = np.arange(len(one.codes)) if cluster == ALL else np.flatnonzero(one.codes == cluster)
    if order == "confidence" and one.confidence is not None:
        chosen = chosen[np.lexsort((one.confidence[chosen], one.codes[chosen] < 0))]  # what has no cluster comes last
    return chosen


def _values(session: Session, rows: NDArray[np.int64], width: int) -> list[list[Any]]:
    if not width or session.data is None:
        return [[] for _ in rows]
    some = session.data.values[rows][:, :width]
    table: list[list[Any]] = (some.toarray() if sparse.issparse(some) else some).tolist()
    return table
