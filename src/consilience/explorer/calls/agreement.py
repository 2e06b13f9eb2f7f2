"""The agreement view: how stable both sides were before the process and after every iteration, and what became stable."""

from __future__ import annotations

from typing import Any

from consilience._types import Floats
from consilience.agreement import column_information, stable_groups
from consilience.explorer.calls.call import Call, kept
from consilience.explorer.codec import RefusedError, Reply, json_reply
from consilience.reports.agreement import components_of

GROUPS, MEMBERS = 20, 20


@kept
def answer(call: Call) -> Reply:
    """The whole process in one answer; it does not change, but the revision does."""
    found = call.session.agreement
    if found is None:
        raise RefusedError(404, "this session shows no agreement run")
    table = found.stability_by_iteration({name: known.codes for name, known in call.session.known.items()} or None)
    ends = {"before": found.before, "after": found.after}
    sides = {side: {when: getattr(ends[when], side) for when in ends} for side in ("rows", "columns")}
    telling = _telling(call)
    groups = []
    for side, both in sides.items():
        weights = telling if side == "columns" else None
        for when, ensemble in both.items():
            listed = stable_groups(ensemble, ensemble, weights=weights, top=GROUPS).to_dict("records")
            groups += [
                {"side": side, "when": when, "size": row["size"], "members": row["members"][:MEMBERS]} for row in listed
            ]
    return json_reply(
        {
            "revision": call.snapshot.revision,
            "iterations": table.to_dict("records"),
            "objective": found.objective,
            "components": {
                side: {when: components_of(one) for when, one in both.items()} for side, both in sides.items()
            },
            "groups": groups,
            "telling": telling is not None,
            "empty_rows": len(found.empty_rows),
            "empty_columns": len(found.empty_columns),
        }
    )


def _telling(call: Call) -> Floats | None:
    """How much every column tells about the clusters of the rows, as in reports; None without the counts."""
    counts, found = call.session.data, call.session.agreement
    if counts is None or found is None or counts.kind == "distances":
        return None
    snapshot = call.snapshot
    shape = snapshot.n_objects, found.after.columns.n_objects
    if counts.values.shape != shape or counts.values.min() < 0:  # another table than the agreement's
        return None
    root: Any = snapshot.displayed(snapshot.ref(f"{snapshot.n_clusterings}.{2 * snapshot.n_clusterings - 2}c"))
    return column_information(counts.values, root.codes)
