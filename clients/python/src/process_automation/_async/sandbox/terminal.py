"""A shell in a terminal of a sandbox."""

from __future__ import annotations

import base64
import secrets
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from ...errors import ConnectionError, SandboxError
from ...models import CommandExit
from ..primitives import TaskErrors
from ..transport import Transport

#: Bytes in the largest message; the service's have at most 256 KiB.
LARGEST_MESSAGE = 1024 * 1024


class Terminal:
    """Bytes both ways. A loop over it gives what it shows, until the shell ends."""

    def __init__(self, session: Any, disconnected: type[Exception]) -> None:
        self._session = session
        self._disconnected = disconnected
        #: How the shell ended; None while it runs.
        self.exit: CommandExit | None = None

    async def write(self, data: bytes | str) -> None:
        """Types something; Enter is `\\r`."""
        await self._session.send_bytes(data.encode() if isinstance(data, str) else data)

    async def resize(self, columns: int, rows: int) -> None:
        """Changes its size."""
        await self._session.send_text(msgspec.json.encode({"resize": {"cols": columns, "rows": rows}}).decode())

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        while self.exit is None:
            try:
                event = await self._session.receive()
            except self._disconnected as error:
                raise ConnectionError("The terminal was cut") from error
            if isinstance(event.data, str):
                self._end(msgspec.json.decode(event.data, type=dict[str, Any]))
            else:
                yield bytes(event.data)

    def _end(self, said: dict[str, Any]) -> None:
        if "error" in said:
            raise SandboxError(said["error"]["message"], code=said["error"]["code"])
        if "exit" in said:
            self.exit = msgspec.convert({"code": -1, **said["exit"]}, CommandExit)


@asynccontextmanager
async def open_terminal(transport: Transport, path: str, columns: int, rows: int) -> AsyncIterator[Terminal]:
    """Opens it below the REST interface, and closes it at the end. Raises ApiError where it is refused."""
    try:
        from httpx2 import websockets
    except ImportError as error:
        raise ImportError("Terminals want more: pip install 'process-automation-client[sandbox]'") from error
    call = transport.call("GET", path, query={"cols": columns, "rows": rows}, headers=_handshake())
    response = await transport.send(call, stream=True)
    try:
        session = websockets.AsyncWebSocketSession(
            response.extensions["network_stream"], max_message_size_bytes=LARGEST_MESSAGE, response=response
        )
        async with session:
            yield Terminal(session, websockets.HTTPXWSException)
    except TaskErrors as group:
        # The session's tasks put what is raised within the block into a group.
        if len(group.exceptions) != 1:
            raise
        alone = group.exceptions[0]
        raise alone from alone.__cause__
    finally:
        await response.aclose()


def _handshake() -> dict[str, str | None]:
    return {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(secrets.token_bytes(16)).decode(),
    }
