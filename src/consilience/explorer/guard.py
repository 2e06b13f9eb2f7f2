"""Who may ask the explorer: its own page, on this machine, with the token."""

import asyncio
import hmac
import secrets
from collections.abc import Mapping
from functools import partial
from itertools import count
from typing import Any

import uvicorn
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from consilience.explorer.api import read_body, response
from consilience.explorer.checks import BODY, json_object
from consilience.explorer.replies import RefusedError, Reply, json_reply, refusal

CONNECTIONS = 128  # safeguard: open at once; more would use up the files that a process may have
TOKEN, ENTER = b"x-consilience-token", "/enter"
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
FENCE = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


class Tokens:
    """What lets people in: one token, and codes that are each exchanged for it once.

    A browser's command line is seen by every user of the machine, so it gets a code.
    """

    def __init__(self, token: str) -> None:
        self.token, self._codes = token, set[str]()

    def are_in(self, headers: list[tuple[bytes, bytes]]) -> bool:
        """Whether a request shows the token, and no other."""
        shown = _values(headers, TOKEN)
        return len(shown) == 1 and hmac.compare_digest(shown[0], self.token.encode())

    def new_code(self) -> str:
        code = secrets.token_hex(16)
        self._codes.add(code)
        return code

    def exchange(self, code: str) -> str | None:
        if code not in self._codes:
            return None
        self._codes.remove(code)
        return self.token


class Guard:
    """Refuses what does not come from the explorer's own page, before anything else looks at it.

    The Host must be one of those the explorer was started for, with its port (a page that points its own name at this machine has
    another; Starlette's TrustedHostMiddleware looks at no port); calls need the token; what changes anything needs JSON and the page's
    own Origin. Every answer carries the headers that keep browsers from doing more than the page needs.
    """

    def __init__(self, app: ASGIApp, tokens: Tokens, hosts: set[str]) -> None:
        self._app, self._tokens, self._hosts = app, tokens, {host.lower().encode() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self._refusal(scope)

        async def fenced(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *FENCE]}
            await send(message)

        await (self._app if refused is None else response(refused))(scope, receive, fenced)

    def _refusal(self, scope: Scope) -> Reply | None:
        headers, is_call = scope["headers"], scope["path"].startswith("/api/")
        hosts, origins = _values(headers, b"host"), _values(headers, b"origin")
        kinds = [kind.split(b";")[0].strip().lower() for kind in _values(headers, b"content-type")]
        if len(hosts) != 1:
            return refusal(400, "a request needs exactly one Host header")
        if hosts[0].lower() not in self._hosts:
            return refusal(421, "this address is not the explorer's: open the one that it printed when it started")
        if any(origin.lower() != b"http://" + hosts[0].lower() for origin in origins):
            return refusal(403, "only the explorer's own page may ask")
        if is_call and not self._tokens.are_in(headers):
            return refusal(401, "the token is missing or wrong: open the address that the explorer printed")
        if scope["method"] in ("GET", "HEAD") or not (is_call or scope["path"] == ENTER):
            return None
        if len(origins) != 1:
            return refusal(403, "only the explorer's own page may ask for changes")
        return None if kinds == [b"application/json"] else refusal(415, "the body must be application/json")


def _values(headers: list[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value for key, value in headers if key == name]


def page_routes(assets: Mapping[str, Any], tokens: Tokens) -> list[Route]:
    """The page's files by their paths, there are no others, and how a browser gets the token."""
    pages = [Route(path, partial(_page, asset), methods=["GET"]) for path, asset in assets.items()]
    return [*pages, Route(ENTER, partial(_enter, tokens), methods=["POST"])]


async def _page(asset: Any, request: Request) -> Response:
    return Response(asset.body, 200, {"Cache-Control": "no-cache"}, asset.content_type)


async def _enter(tokens: Tokens, request: Request) -> Response:
    code = json_object(await read_body(request, BODY)).get("code")
    token = tokens.exchange(code) if isinstance(code, str) else None
    if token is None:
        raise RefusedError(401, "this link was used already: open the address that the explorer printed")
    return response(json_reply({"token": token}))


class LimitedProtocol(H11Protocol):
    """HTTP/1.1 on at most :data:`CONNECTIONS` connections: one more ends the oldest that never showed the token.

    Any program of this machine can open connections, and leave them idle or their answers unread: they must not keep the page out.
    """

    _numbers = count()

    def __init__(self, tokens: Tokens, **options: Any) -> None:
        super().__init__(**options)
        self._tokens, self._number, self._is_ours = tokens, next(self._numbers), False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        here = [one for one in self.connections if isinstance(one, LimitedProtocol)]
        if len(here) > CONNECTIONS:  # this one is a stranger too, as long as it has not asked
            oldest = min((one for one in here if not one._is_ours), key=lambda one: one._number)
            self.connections.discard(oldest)  # at once, or the next one would end it again
            oldest.transport.abort()  # also one that closes: it stays open as long as its answer is unread

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._is_ours = self._is_ours or self._tokens.are_in(self.headers or [])


class EndingServer(uvicorn.Server):
    """A server that leaves no connection open: in a process that lives on, a page would wait on one for ever."""

    async def shutdown(self, sockets: Any = None) -> None:
        """Let what is under way finish, and cut off what does not."""
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # the loop closes their sockets in its next turn
