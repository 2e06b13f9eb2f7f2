"""The agreement view: how stable both sides were before the process and after every iteration, and what became stable."""

from __future__ import annotations

from consilience.agreement import stable_groups
from consilience.explorer.codec import RefusedError, Reply, json_reply
from consilience.explorer.session import Session
from consilience.explorer.snapshot import Edition
from consilience.reports.agreement import components_of

GROUPS, MEMBERS = 20, 20


def agreement_reply(session: Session, edition: Edition) -> Reply:
    """The whole process in one answer; it does not change, but the revision does."""
    if session.agreement is None:
        raise RefusedError(404, "this session shows no agreement run")
    return edition.cache.get("agreement", lambda: _agreement(session, edition))


def _agreement(session: Session, edition: Edition) -> Reply:
    found = session.agreement
    assert found is not None
    table = found.stability_by_iteration({name: known.codes for name, known in session.known.items()} or None)
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
            "revision": edition.revision,
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
