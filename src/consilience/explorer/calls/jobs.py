"""Long work: started, looked at, stopped. To add a kind: write its file, and enter it in the table."""

from __future__ import annotations

from consilience.explorer.calls import maps, more_like, null, planes, report, scales, stable
from consilience.explorer.calls.call import Call
from consilience.explorer.codec import RefusedError, Reply, json_reply
from consilience.explorer.jobs import Job
from consilience.explorer.validation import check_keys, json_object

KINDS = {
    "map": maps,
    "more_like": more_like,
    "null": null,
    "plane": planes,
    "report": report,
    "scales": scales,
    "stable": stable,
}  # each with KEYS, what its body may hold, and `start`


def start(call: Call) -> Reply:
    """Start a job; refused while another runs."""
    content = json_object(call.body)
    kind = content.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise RefusedError(400, f"the kind of a job is {' or '.join(KINDS)}")
    return _told(call, KINDS[kind].start(call, **check_keys(content, KINDS[kind].KEYS)), 202)


def look(call: Call) -> Reply:
    """How far a job is."""
    return _told(call, call.jobs.get(int(call.parts[0])))


def stop(call: Call) -> Reply:
    """Ask a job to stop."""
    job = call.jobs.get(int(call.parts[0]))
    job.ask_to_stop()
    return _told(call, job)


def _told(call: Call, job: Job, status: int = 200) -> Reply:
    summary = job.summary()  # before the revision: a job that is done has its revision out
    return json_reply({**summary, "revision": call.session.snapshot.revision}, status)
