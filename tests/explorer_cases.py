"""Small sessions of the explorer, and how tests ask them."""

import json
import secrets
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import consilience as cs
from consilience.datasets import load_beads, load_beads_labels
from consilience.explorer.api import Api
from consilience.explorer.server import Asset
from consilience.explorer.session import Session
from consilience.explorer.sources import open_clusterings

ASSETS = {
    "/": Asset(b"<!doctype html><title>page</title>", "text/html; charset=utf-8"),
    "/explorer.js": Asset(b"export {}", "text/javascript; charset=utf-8"),
    "/explorer.css": Asset(b"", "text/css; charset=utf-8"),
}
TOKEN = "0123456789abcdef" * 2


@lru_cache(maxsize=1)
def beads_ensemble() -> cs.Ensemble:
    """60 clusterings of the beads."""
    return cs.generate(load_beads(), 60, 4, progress=False)


def beads_session(**options: Any) -> Session:
    """They, with the data and what is known of it; in memory."""
    beads = load_beads()
    assert beads.labels is not None
    return Session(beads_ensemble(), data=beads, known=dict(beads.labels.items()), **options)


def holes_session() -> Session:
    """16 clusterings with missing labels and different numbers of clusters; no data."""
    return Session(load_beads_labels())


def stored_session(folder: Path) -> Session:
    """The beads' run on disk."""
    if not folder.exists():
        cs.generate(load_beads(), 40, 4, store=folder, progress=False)
    return open_clusterings(folder).with_data(load_beads()).session()


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    begin = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:begin])
    arrays = {}
    for name, place in header["arrays"].items():
        kind = np.dtype(place["dtype"]).newbyteorder("<")
        size = int(np.prod(place["shape"]))
        arrays[name] = np.frombuffer(data, kind, size, begin + place["offset"]).reshape(place["shape"])
    return header, arrays


def free_port() -> int:
    """A port that can be asked for and taken again: below those that systems give to whoever asks for any."""
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with suppress(OSError), socket.socket() as found:
            found.bind(("127.0.0.1", port))
            return port


def ask(api: Api, path: str, status: int = 200, /, **query: Any) -> dict[str, Any]:
    """The JSON of a call that must succeed, or be refused just so."""
    reply = api.call("GET", f"/api/{path}", {name: str(value) for name, value in query.items()})
    assert reply.status == status, (reply.status, reply.body)
    assert reply.content_type == "application/json"
    content: dict[str, Any] = json.loads(reply.body)
    return content


def arrays(api: Api, path: str, **query: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and arrays of a call that must succeed."""
    reply = api.call("GET", f"/api/{path}", {name: str(value) for name, value in query.items()})
    assert reply.status == 200, reply.body
    assert reply.content_type == "application/octet-stream"
    return unpack(reply.body)


def post(api: Api, path: str, status: int = 200, /, **content: Any) -> Any:
    """The JSON of a POST, or the reply if it is a file."""
    return _change("POST", api, path, status, content)


def _change(method: str, api: Api, path: str, status: int, content: Any) -> Any:
    reply = api.call(method, f"/api/{path}", {}, json.dumps(content).encode())
    assert reply.status == status, (reply.status, reply.body)
    return json.loads(reply.body) if reply.content_type == "application/json" else reply


def until(holds: Callable[[], Any], what: str = "it did not come") -> None:
    """Wait as long as it takes; a minute only ends what hangs."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def drop(api: Api, path: str, status: int = 200, /, **content: Any) -> Any:
    """The JSON of a DELETE."""
    return _change("DELETE", api, path, status, content)


def finish(api: Api, number: int) -> dict[str, Any]:
    """Wait for a job, and return it."""
    until(lambda: ask(api, f"jobs/{number}")["state"] != "running", "the job did not end")
    return ask(api, f"jobs/{number}")


def codes(labels: np.ndarray) -> np.ndarray:
    """Labels from the wire as the package has them."""
    wide = labels.astype(np.int64)
    wide[labels == np.iinfo(labels.dtype).max] = -1
    return wide
