"""Connections with limits: any program of this machine can open them, token or not."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 128  # open at once; more would use up the files that a process may have
PATIENCE = 10.0  # seconds in which the head of a request has to arrive


class EndingServer(uvicorn.Server):
    """A server that leaves no connection open: in a process that lives on, a page would wait on one for ever."""

    async def shutdown(self, sockets: Any = None) -> None:
        """Let what is under way finish, and cut off what does not."""
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # the loop closes their sockets in its next turn


class LimitedProtocol(H11Protocol):
    """HTTP/1.1 that closes connections beyond `MOST`, and those that send no whole head in time."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MOST:
            transport.abort()
        else:
            self._waiting = self.loop.call_later(PATIENCE, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Take what was sent; the clock runs while a head is incomplete."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._end_waiting()
        elif self._waiting is None:
            self._waiting = self.loop.call_later(PATIENCE, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._end_waiting()
        super().connection_lost(exc)

    def _end_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
