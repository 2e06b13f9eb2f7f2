"""Several clusterings side by side: which clusters flow into which, in an order of one's own or by likeness."""

from __future__ import annotations

from typing import Any

from consilience.explorer.calls.call import Call
from consilience.explorer.codec import RefusedError, Reply
from consilience.explorer.flows import LEAST, MOST, Column, arranged, flow_reply
from consilience.explorer.validation import query_of, whole

KEYS: dict[str, Any] = {"arrange": (whole(0, 1), 0)}


def answer(call: Call) -> Reply:
    """The flow; kept for those who ask again."""
    arrange = query_of(call.query, KEYS)["arrange"]
    texts = call.parts[0].split(",")
    if not LEAST <= len(texts) <= MOST:
        raise RefusedError(400, f"a flow is of {LEAST} to {MOST} clusterings")
    if len(set(texts)) < len(texts):
        raise RefusedError(400, "a flow has every clustering once")

    def make() -> Reply:
        found = [call.snapshot.displayed(call.snapshot.ref(text), call.step) for text in texts]
        columns = [Column(str(one.ref), one.codes, one.names) for one in found]
        if arrange:
            columns = [columns[at] for at in arranged(columns)]
        return flow_reply(call.snapshot.revision, columns)

    return call.snapshot.cache.get(("flow", arrange, *texts), make)
