"""The explorer's application: Starlette's routes of the calls. The server answers it over HTTP, a notebook in its own process."""

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message

from consilience._check import InputError
from consilience.explorer.calls import CALLS
from consilience.explorer.calls.call import Call
from consilience.explorer.jobs import Jobs
from consilience.explorer.replies import RefusedError, Reply, refusal
from consilience.explorer.session import Session

PATIENCE = 10.0  # safeguard: seconds in which a body has to arrive, so that slow senders hold nothing
THREADS, WAITING = 8, 64  # safeguard: calls worked on at once, and those that may wait, bound threads and memory
log = logging.getLogger("consilience.explorer")


class _Number(IntegerConvertor):
    regex = "[0-9]{1,9}"


register_url_convertor("number", _Number())


class Api:
    def __init__(self, session: Session, routes: Sequence[Route] = ()) -> None:
        self.session, self.jobs = session, Jobs()
        self._threads, self._waiting = ThreadPoolExecutor(THREADS, "explorer call"), 0
        calls = [
            Route(f"/api/{path}", partial(self._answer, answer, room), methods=[method])
            for method, path, answer, room in CALLS
        ]
        said = {HTTPException: _no_route, RefusedError: _refused}
        self.app = Starlette(routes=[*calls, *routes], exception_handlers=said)  # type: ignore[arg-type]
        self.app.router.redirect_slashes = False

    async def _answer(self, answer: Callable[[Call], Reply], room: int, request: Request) -> Response:
        """One call, in a thread; long work ends at its next step when the client hangs up."""
        if self._waiting >= WAITING:
            raise RefusedError(429, "too many calls are waiting: ask again in a moment")
        self._waiting += 1
        try:
            body, gone = await read_body(request, room), threading.Event()
            parts, query = tuple(request.path_params.values()), dict(request.query_params)
            call = Call(self.session, self.session.snapshot, self.jobs, parts, query, body, gone.is_set)
            watching = asyncio.create_task(_watch(request, gone))
            try:
                reply = await asyncio.get_running_loop().run_in_executor(self._threads, _safely, answer, call)
            finally:
                watching.cancel()
        finally:
            self._waiting -= 1
        if "ETag" in reply.headers and request.headers.get("if-none-match") == reply.headers["ETag"]:
            return Response(None, 304, dict(reply.headers))
        return response(reply)

    def call(self, method: str, path: str, query: Mapping[str, str] | None = None, body: bytes = b"") -> Reply:
        """Ask the application in this process; whatever is wrong with a call is said in the reply, never raised."""
        asking = _ask(self.app, method, path, urlencode(query or {}), body)
        return asyncio.run_coroutine_threadsafe(asking, _loop()).result()

    def close(self) -> None:
        self.jobs.close()


async def read_body(request: Request, room: int) -> bytes:
    """The whole body, however it is sent; refused where it is too long or too slow."""
    body, too_long = bytearray(), RefusedError(413, f"such a request has at most {room // 1024:,} kB")
    if int(request.headers.get("content-length", 0)) > room:  # the server refuses what is no number
        raise too_long
    try:
        async with asyncio.timeout(PATIENCE):
            async for chunk in request.stream():
                body += chunk
                if len(body) > room:
                    raise too_long
    except TimeoutError:
        raise RefusedError(408, "the request took too long to arrive") from None
    except ClientDisconnect:
        raise RefusedError(400, "the request ended early") from None
    return bytes(body)


async def _watch(request: Request, gone: threading.Event) -> None:
    """Say when the client hangs up: what was asked for is superseded, and need not be worked out."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    gone.set()


def _safely(answer: Callable[[Call], Reply], call: Call) -> Reply:
    try:
        return answer(call)
    except RefusedError as error:
        return refusal(error.status, str(error))
    except InputError as error:
        return refusal(400, str(error))
    except Exception:
        log.exception("a call failed")
        return refusal(500, "this failed for a reason that the explorer's terminal shows")


def response(reply: Reply) -> Response:
    headers = {"Cache-Control": "no-store", **reply.headers, "Content-Type": reply.content_type}
    return Response(reply.body, reply.status, headers)


async def _refused(request: Request, error: RefusedError) -> Response:
    return response(refusal(error.status, str(error)))


async def _no_route(request: Request, error: HTTPException) -> Response:
    words = {404: "there is nothing here", 405: "this is not asked that way"}
    said = words.get(error.status_code, "this cannot be answered")
    return response(refusal(error.status_code, said, error.headers))


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """An event loop in a thread of its own: that of a notebook waits while a message is answered."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="explorer calls", daemon=True).start()
    return loop


async def _ask(app: ASGIApp, method: str, path: str, query: str, body: bytes) -> Reply:
    sent, messages = list[Message](), [{"type": "http.request", "body": body}]

    async def receive() -> Message:
        if not messages:
            await asyncio.Event().wait()  # who asks here stays for the answer
        return messages.pop()

    async def send(message: Message) -> None:
        sent.append(message)

    scope: dict[str, Any] = {"type": "http", "method": method, "path": path, "root_path": "", "headers": []}
    await app({**scope, "query_string": query.encode()}, receive, send)
    headers = Headers(raw=sent[0]["headers"])
    content = b"".join(message.get("body", b"") for message in sent[1:])
    return Reply(sent[0]["status"], headers.get("content-type", ""), content, headers)
