"""Every call of the explorer, as plain Python: a method, a path, a query and a body in, a reply out.

The web server and the notebook widget both ask here. Clients name things by whole numbers, a letter, and fixed words; the only
texts they send are the names of exported columns, which go nowhere but into the exported file.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from consilience._check import InputError
from consilience.explorer.calls import ROUTES
from consilience.explorer.calls.call import Call
from consilience.explorer.checks import BODY
from consilience.explorer.jobs import Jobs
from consilience.explorer.replies import RefusedError, Reply, refusal
from consilience.explorer.session import Session

log = logging.getLogger("consilience.explorer")


class Api:
    """The calls of one session; :data:`consilience.explorer.calls.ROUTES` lists them.

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

    def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: bytes = b"",
        is_gone: Callable[[], bool] = lambda: False,
    ) -> Reply:
        """Answer one call; whatever is wrong with it is said in a reply, never raised.

        `is_gone` tells whether the client does not wait any more: long work then ends at its next step.
        """
        found = [(route, match) for route in ROUTES if (match := route.pattern.fullmatch(path))]
        if not found:
            return refusal(404, "there is nothing here: the calls are listed in the explorer's documentation")
        for route, match in found:
            if route.method == method:
                call = Call(self.session, self.session.snapshot, self.jobs, match.groups(), query or {}, body, is_gone)
                break
        else:
            allowed = sorted(route.method for route, _ in found)
            return refusal(405, f"this is asked by {' or '.join(allowed)}", {"Allow": ", ".join(allowed)})
        try:
            return route.answer(call)
        except RefusedError as error:
            return refusal(error.status, str(error))
        except InputError as error:
            return refusal(400, str(error))
        except Exception:
            log.exception("a call failed")
            return refusal(500, "this failed for a reason that the explorer's terminal shows")

    @staticmethod
    def room(method: str, path: str) -> int:
        """The most bytes that the body of a call may have.

        Examples
        --------
        >>> Api.room("POST", "/api/jobs"), Api.room("POST", "/api/treat")
        (65536, 1048576)
        """
        return max((one.room for one in ROUTES if one.method == method and one.pattern.fullmatch(path)), default=BODY)

    def close(self) -> None:
        """Stop the job under way."""
        self.jobs.close()
