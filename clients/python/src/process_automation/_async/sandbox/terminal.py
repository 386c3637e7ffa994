"""A shell in a terminal of a sandbox."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import msgspec

from ..._answers import error_of
from ...errors import ConnectionError, SandboxError
from ...models import CommandExit
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
    client = websockets.AsyncWebSocketClient(transport.http, max_message_size_bytes=LARGEST_MESSAGE)
    token = await transport.tokens.current()
    headers = {**transport.settings.headers, "Authorization": f"Bearer {token}"}
    size = {"cols": str(columns), "rows": str(rows)}
    try:
        async with client.connect(f"{transport.settings.rest}{path}", params=size, headers=headers) as session:
            yield Terminal(session, websockets.HTTPXWSException)
    except websockets.WebSocketUpgradeError as error:
        await error.response.aread()
        raise error_of(error.response) from error
    except httpx2.TransportError as error:
        raise ConnectionError(f"{path}: {error}") from error
