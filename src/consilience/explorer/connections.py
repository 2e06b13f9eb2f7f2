"""Connections with limits: any program of this machine can open them, token or not."""

import asyncio
from itertools import count
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from consilience.explorer.guard import Tokens

CONNECTIONS = 128  # safeguard: open at once; more would use up the files that a process may have
ASKING = 10.0  # safeguard: seconds in which the head of a request has to arrive
READING = 30.0  # safeguard: seconds in which a client has to read on; who does not holds the answer in memory


class EndingServer(uvicorn.Server):
    """A server that leaves no connection open: in a process that lives on, a page would wait on one for ever."""

    async def shutdown(self, sockets: Any = None) -> None:
        """Let what is under way finish, and cut off what does not."""
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # the loop closes their sockets in its next turn


class LimitedProtocol(H11Protocol):
    """HTTP/1.1 that ends connections which send no whole head, or read no answer, in time.

    Beyond :data:`CONNECTIONS` the oldest that never showed the token goes: strangers cannot keep the page out.
    """

    _born = count()

    def __init__(self, tokens: Tokens, **how: Any) -> None:
        super().__init__(**how)
        self._tokens, self.number, self.is_ours = tokens, next(self._born), False
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def connection_made(self, transport: Any) -> None:
        """Take a connection; where there are too many, end another."""
        super().connection_made(transport)
        here = [one for one in self.connections if isinstance(one, LimitedProtocol) and not one.transport.is_closing()]
        if len(here) > CONNECTIONS:  # this one is a stranger too, as long as it has not asked
            min((one for one in here if not one.is_ours), key=lambda one: one.number).transport.abort()
        self._start("asking", ASKING)

    def data_received(self, data: bytes) -> None:
        """Take what was sent; the clock runs while a head is incomplete."""
        super().data_received(data)
        self.is_ours = self.is_ours or self._tokens.are_in(self.headers or [])
        if self.conn.their_state is not h11.IDLE:
            self._end("asking")
        else:
            self._start("asking", ASKING)

    def pause_writing(self) -> None:
        """The client reads more slowly than it is answered."""
        super().pause_writing()
        self._start("reading", READING)

    def resume_writing(self) -> None:
        self._end("reading")
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        for name in list(self._timers):
            self._end(name)
        super().connection_lost(exc)

    def _start(self, name: str, seconds: float) -> None:
        if name not in self._timers:
            self._timers[name] = self.loop.call_later(seconds, self.transport.abort)

    def _end(self, name: str) -> None:
        if name in self._timers:
            self._timers.pop(name).cancel()
