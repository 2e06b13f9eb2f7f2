"""The agreement view: how stable both sides were before the process and after every iteration, and what became stable."""

from __future__ import annotations

from consilience.agreement import stable_groups
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
    groups = []
    for side, both in sides.items():
        for when, ensemble in both.items():
            listed = stable_groups(ensemble, ensemble, top=GROUPS).to_dict("records")
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
            "empty_rows": len(found.empty_rows),
            "empty_columns": len(found.empty_columns),
        }
    )
