"""One call: what it is about, and what the client sent."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from consilience._check import count
from consilience._types import Ints
from consilience.explorer.checks import Keys, check_keys, json_object
from consilience.explorer.jobs import Jobs
from consilience.explorer.replies import RefusedError, Reply, json_reply
from consilience.explorer.session import Session
from consilience.explorer.snapshot import DisplayedClustering, Snapshot

WHOLE = re.compile(r"-?[0-9]{1,9}")


@dataclass(frozen=True)
class Call:
    session: Session
    snapshot: Snapshot  # the revision; it stays the same while the call is answered
    jobs: Jobs
    parts: tuple[Any, ...] = ()  # what the client chose in the path
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    is_gone: Callable[[], bool] = lambda: False

    def json(self, keys: Keys) -> dict[str, Any]:
        return check_keys(json_object(self.body), keys)

    def asked(self, keys: Keys) -> dict[str, Any]:
        """What the query asks for, whole numbers as numbers where the keys want them."""
        texts = {name for name, (_, usual) in keys.items() if isinstance(usual, str)}
        whole = {name for name, value in self.query.items() if WHOLE.fullmatch(value)} - texts
        return check_keys({name: int(value) if name in whole else value for name, value in self.query.items()}, keys)

    def reply(self, **content: Any) -> Reply:
        return json_reply({"revision": self.snapshot.revision, **content})

    def step(self) -> None:
        """A place where long work ends if nobody waits for it."""
        if self.is_gone():
            raise RefusedError(499, "nobody waits for this any more")

    def clustering(self, part: int = 0) -> DisplayedClustering:
        return self.snapshot.displayed(self.snapshot.ref(self.parts[part]), self.step)

    def objects(self, rows: Ints, least: int = 1) -> Ints:
        """Numbers of objects, refused where there are no such objects or too few."""
        if len(rows) < least:
            raise RefusedError(400, f"pick at least {count(least, 'object')}")
        n = self.snapshot.n_objects
        if len(rows) and rows[-1] >= n:
            raise RefusedError(404, f"there is no object {rows[-1]} here: they are numbered 0 to {n - 1}")
        return rows


def kept(answer: Callable[[Call], Reply]) -> Callable[[Call], Reply]:
    """The same function; what it answers is kept for those who ask again."""

    def ask(call: Call) -> Reply:
        return call.snapshot.cache.get((answer.__qualname__, call.session.edition, *call.parts), lambda: answer(call))

    return ask
