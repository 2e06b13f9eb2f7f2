"""The explorer over HTTP: who may ask, how much they may send, and the page itself; the answers come from :mod:`api`."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from consilience.explorer.api import Api
from consilience.explorer.checks import json_object
from consilience.explorer.launch import Asset
from consilience.explorer.replies import RefusedError, Reply, json_reply, refusal

PATIENCE = 10.0  # seconds in which a body has to arrive
LOOK = 0.1  # seconds between looks at whether the client still waits
THREADS, WAITING = 8, 64  # calls that are worked on at once, and those that may wait
TOKEN, ENTER = b"x-consilience-token", "/enter"
WRONG_TOKEN = "the token is missing or wrong: open the address that the explorer printed when it started"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


class Tokens:
    """What lets people in: one token, and codes that are each exchanged for it once.

    A browser's command line is seen by every user of the machine, so it gets a code.

    Examples
    --------
    >>> tokens = Tokens("0" * 32)
    >>> code = tokens.new_code()
    >>> tokens.exchange(code), tokens.exchange(code)
    ('00000000000000000000000000000000', None)
    """

    def __init__(self, token: str) -> None:
        self.token, self._codes = token, set[str]()

    def fits(self, token: bytes) -> bool:
        """Whether it is the token."""
        return hmac.compare_digest(token, self.token.encode())

    def new_code(self) -> str:
        """A code that lets in once."""
        code = secrets.token_hex(16)
        self._codes.add(code)
        return code

    def exchange(self, code: str) -> str | None:
        """The token for a code that was not used yet."""
        if code not in self._codes:
            return None
        self._codes.remove(code)
        return self.token


def make_app(api: Api, assets: dict[str, Asset], *, tokens: Tokens, hosts: set[str]) -> ASGIApp:
    """The application.

    Parameters
    ----------
    api : Api
    assets : dict
        The files of the page by their path; there are no others.
    tokens : Tokens
        What every call under /api must bring, and how a browser gets it.
    hosts : set of str
        The values of the Host header that are answered, each with its port.
    """
    endpoint = Endpoint(api)
    routes = [Route(path, partial(_page, asset), methods=["GET"]) for path, asset in assets.items()]
    routes.append(Route("/api/{rest:path}", endpoint.answer, methods=["GET", "POST", "DELETE"]))
    routes.append(Route(ENTER, partial(_enter, tokens), methods=["POST"]))
    app = Starlette(routes=routes, exception_handlers={HTTPException: _refused, RefusedError: _said})
    app.router.redirect_slashes = False
    return Middleware(app, tokens, hosts)


@dataclass
class Endpoint:
    """Takes calls to the API, a few at a time, each in a thread."""

    api: Api
    waiting: int = 0

    def __post_init__(self) -> None:
        self.threads = anyio.CapacityLimiter(THREADS)

    async def answer(self, request: Request) -> Response:
        """One call."""
        if self.waiting >= WAITING:
            return _response(refusal(429, "too many calls are waiting: ask again in a moment"))
        self.waiting += 1
        try:
            body, query = await request.body(), dict(request.query_params)
            gone = threading.Event()
            call = partial(self.api.call, request.method, request.scope["path"], query, body, gone.is_set)
            async with anyio.create_task_group() as watching:
                watching.start_soon(_watch, request, gone)
                reply = await anyio.to_thread.run_sync(call, limiter=self.threads)
                watching.cancel_scope.cancel()
        finally:
            self.waiting -= 1
        if "ETag" in reply.headers and request.headers.get("if-none-match") == reply.headers["ETag"]:
            return Response(None, 304, dict(reply.headers))
        return _response(reply)


async def _watch(request: Request, gone: threading.Event) -> None:
    """Say when the client hangs up: what was asked for is superseded, and need not be worked out."""
    while not await request.is_disconnected():
        await anyio.sleep(LOOK)
    gone.set()


async def _enter(tokens: Tokens, request: Request) -> Response:
    """The token for a code."""
    code = json_object(await request.body()).get("code")
    token = tokens.exchange(code) if isinstance(code, str) else None
    if token is None:
        return _response(refusal(401, "this link was used already: open the address that the explorer printed"))
    return _response(json_reply({"token": token}))


async def _page(asset: Asset, request: Request) -> Response:
    return Response(asset.body, 200, {"Cache-Control": "no-cache"}, asset.content_type)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "there is nothing here", 405: "this is not asked that way"}
    said = words.get(error.status_code, "this cannot be answered")
    return _response(refusal(error.status_code, said, error.headers))


async def _said(request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return _response(refusal(error.status, str(error)))


def _response(reply: Reply) -> Response:
    headers = {"Cache-Control": "no-store", **reply.headers, "Content-Type": reply.content_type}
    return Response(reply.body, reply.status, headers)


class Middleware:
    """Refuses what does not come from the explorer's own page, before anything else looks at it.

    The Host must be one of those the explorer was started for (a page that points its own name at this machine has another);
    calls need the token; what changes anything needs JSON and the page's own Origin; bodies are short.
    """

    def __init__(self, app: ASGIApp, tokens: Tokens, hosts: set[str]) -> None:
        self._app, self._tokens, self._hosts = app, tokens, {host.lower().encode() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            raise RuntimeError(f"the explorer speaks HTTP only, not {scope['type']}")
        send = _with_headers(send)
        said = self._refusal(scope)
        if said is None:
            body = await _read_body(scope, receive, Api.room(scope["method"], scope["path"]))
            said = body if isinstance(body, Reply) else None
        if said is not None:
            await _response(said)(scope, receive, send)
            return
        assert isinstance(body, bytes)
        await self._app(scope, _replay(body, receive), send)

    def _refusal(self, scope: Scope) -> Reply | None:
        hosts = _values(scope, b"host")
        if len(hosts) != 1:
            return refusal(400, "a request needs exactly one Host header")
        if hosts[0].lower() not in self._hosts:
            return refusal(421, "this address is not the explorer's: open the one that it printed when it started")
        origins = _values(scope, b"origin")
        if any(origin.lower() != b"http://" + hosts[0].lower() for origin in origins):
            return refusal(403, "only the explorer's own page may ask")
        is_call = scope["path"].startswith("/api/")
        if not is_call and scope["path"] != ENTER:
            return None
        tokens = _values(scope, TOKEN)
        if is_call and (len(tokens) != 1 or not self._tokens.fits(tokens[0])):
            return refusal(401, WRONG_TOKEN)
        if scope["method"] in ("GET", "HEAD"):
            return None
        if len(origins) != 1:
            return refusal(403, "only the explorer's own page may ask for changes")
        kinds = _values(scope, b"content-type")
        if len(kinds) != 1 or kinds[0].split(b";")[0].strip().lower() != b"application/json":
            return refusal(415, "the body must be application/json")
        return None


def _values(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key == name]


async def _read_body(scope: Scope, receive: Receive, room: int) -> bytes | Reply:
    """The whole body, however it is sent, unless it is too long or too slow."""
    too_long = refusal(413, f"such a request has at most {room // 1024:,} kB")
    for length in _values(scope, b"content-length"):
        if not length.isdigit() or int(length) > room:
            return too_long
    body = bytearray()
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return refusal(400, "the request ended early")
                body += message.get("body", b"")
                if len(body) > room:
                    return too_long
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        return refusal(408, "the request took too long to arrive")


def _replay(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    """The body once, then whatever comes after it."""
    told = False

    async def replay() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _with_headers(send: Send) -> Send:
    """Every response carries the headers that keep browsers from doing more than the page needs."""
    extra: list[tuple[bytes, bytes]] = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

    async def guarded(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *extra]}
        await send(message)

    return guarded
