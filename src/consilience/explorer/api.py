"""Every call of the explorer, as plain Python: a method, a path, a query and a body in, a reply out.

The web server and the notebook widget both ask here. Clients name things by whole numbers, a letter, and fixed words; the only
texts they send are the names of exported columns, which go nowhere but into the exported file.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from typing import Any

from consilience._check import InputError
from consilience.explorer import validation
from consilience.explorer.agreed import agreement_reply
from consilience.explorer.codec import RefusedError, Reply, json_reply, refusal
from consilience.explorer.compare import compare_reply, components_reply
from consilience.explorer.detail import detail_reply
from consilience.explorer.export import export_reply
from consilience.explorer.jobs import Job, Jobs
from consilience.explorer.more_like import start_refine
from consilience.explorer.null import start_null
from consilience.explorer.objects import objects_reply
from consilience.explorer.overview import boot_reply, labels_reply, map_reply, session_reply
from consilience.explorer.session import Session
from consilience.explorer.snapshot import Edition

ONE, NUMBER = r"(?:[0-9]{1,9}\.)?[0-9]{1,9}[mc]", r"([0-9]{1,9})"
REF = f"({ONE})"
log = logging.getLogger("consilience.explorer")


class Api:
    """The calls of one session.

    Examples
    --------
    >>> from consilience.datasets import load_beads_labels
    >>> api = Api(Session(load_beads_labels()))
    >>> api.call("GET", "/api/detail/3m").status
    200
    >>> api.call("GET", "/api/detail/99m").body
    b'{"error":"there is no clustering 99 here: they are numbered 0 to 15"}'
    """

    def __init__(self, session: Session) -> None:
        self.session, self.jobs = session, Jobs()
        self._routes: list[tuple[str, re.Pattern[str], Callable[..., Reply]]] = [
            (method, re.compile(rf"/api/{path}"), answer)
            for method, path, answer in (
                ("GET", "session", self._session),
                ("GET", "boot", self._boot),
                ("GET", f"labels/({ONE}(?:,{ONE})*)", self._labels),
                ("GET", "map/(mds|neighbors)", self._map),
                ("GET", f"detail/{REF}", self._detail),
                ("GET", f"objects/{REF}", self._objects),
                ("GET", f"compare/{REF}/{REF}", self._compare),
                ("GET", f"components/{REF}", self._components),
                ("GET", "agreement", self._agreement),
                ("POST", "jobs", self._start),
                ("GET", f"jobs/{NUMBER}", self._job),
                ("DELETE", f"jobs/{NUMBER}", self._stop),
                ("POST", "export", self._export),
            )
        ]

    def call(self, method: str, path: str, query: Mapping[str, str] | None = None, body: bytes = b"") -> Reply:
        """Answer one call; whatever is wrong with it is said in a reply, never raised."""
        allowed = set()
        for verb, pattern, answer in self._routes:
            found = pattern.fullmatch(path)
            if found is None:
                continue
            if verb != method:
                allowed.add(verb)
                continue
            return self._answered(answer, found.groups(), query or {}, body)
        if allowed:
            words = " or ".join(sorted(allowed))
            said = refusal(405, f"this is asked by {words}")
            return Reply(said.status, said.content_type, said.body, {"Allow": ", ".join(sorted(allowed))})
        return refusal(404, "there is nothing here: the calls are listed in the explorer's documentation")

    def _answered(self, answer: Callable[..., Reply], found: Any, query: Mapping[str, str], body: bytes) -> Reply:
        try:
            return answer(self.session.edition, *found, query=query, body=body)
        except RefusedError as error:
            return refusal(error.status, str(error))
        except InputError as error:
            return refusal(400, str(error))
        except Exception:
            log.exception("a call failed")
            return refusal(500, "this failed for a reason that the explorer's terminal shows")

    def _session(self, edition: Edition, **_: Any) -> Reply:
        return session_reply(self.session, edition, self.jobs)

    def _boot(self, edition: Edition, **_: Any) -> Reply:
        return boot_reply(self.session, edition)

    def _labels(self, edition: Edition, refs: str, **_: Any) -> Reply:
        return labels_reply(self.session, edition, refs)

    def _map(self, edition: Edition, kind: str, **_: Any) -> Reply:
        return map_reply(edition, kind)

    def _detail(self, edition: Edition, ref: str, **_: Any) -> Reply:
        return detail_reply(self.session, edition, edition.ref(ref))

    def _objects(self, edition: Edition, ref: str, query: Mapping[str, str], **_: Any) -> Reply:
        return objects_reply(self.session, edition, edition.ref(ref), **validation.objects_query(query))

    def _compare(self, edition: Edition, a: str, b: str, **_: Any) -> Reply:
        return compare_reply(self.session, edition, edition.ref(a), edition.ref(b))

    def _components(self, edition: Edition, ref: str, **_: Any) -> Reply:
        return components_reply(self.session, edition, edition.ref(ref))

    def _agreement(self, edition: Edition, **_: Any) -> Reply:
        return agreement_reply(self.session, edition)

    def _start(self, edition: Edition, body: bytes, **_: Any) -> Reply:
        kind, asked = validation.job_body(body)
        if kind == "null":
            return self._told(start_null(self.session, edition, self.jobs, **asked), 202)
        asked["ref"] = edition.ref(asked["ref"])
        return self._told(start_refine(self.session, edition, self.jobs, **asked), 202)

    def _job(self, edition: Edition, number: str, **_: Any) -> Reply:
        return self._told(self.jobs.get(int(number)))

    def _stop(self, edition: Edition, number: str, **_: Any) -> Reply:
        job = self.jobs.get(int(number))
        job.ask_to_stop()
        return self._told(job)

    def _told(self, job: Job, status: int = 200) -> Reply:
        summary = job.summary()  # before the revision: a job that is done has its revision out
        return json_reply({**summary, "revision": self.session.edition.revision}, status)

    def _export(self, edition: Edition, body: bytes, **_: Any) -> Reply:
        form, items, confidence = validation.export_body(body)
        return export_reply(self.session, edition, form, [(edition.ref(ref), name) for ref, name in items], confidence)

    def close(self) -> None:
        """Stop the job under way."""
        self.jobs.close()
