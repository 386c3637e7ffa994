"""A command in a sandbox that goes on without its caller."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from ..._operations import operation
from ...commands import CommandOutput, CommandResult, OnOutput
from ...models import CommandExit
from ..transport import Transport
from .output import command_output, result_of


class Detached:
    """It ends by itself, with its sandbox, or by `end`."""

    def __init__(self, transport: Transport, path: str, id: str) -> None:
        self._transport = transport
        self._path = path
        self.id = id

    @operation("getSandboxesBySandboxIdCommandsByCommandId")
    async def output(self) -> AsyncGenerator[CommandOutput | CommandExit]:
        """What is kept of its output, what it writes from now on, and at last how it ended."""
        async with aclosing(command_output(self._transport, self._transport.call("GET", self._path))) as outputs:
            async for output in outputs:
                yield output

    async def wait(self, *, on_stdout: OnOutput | None = None, on_stderr: OnOutput | None = None) -> CommandResult:
        """Waits for its end, and gives what is kept of its output."""
        return await result_of(self.output(), on_stdout, on_stderr)

    @operation("deleteSandboxesBySandboxIdCommandsByCommandId")
    async def end(self) -> None:
        """Ends it and all that it started, and forgets it."""
        await self._transport.json("DELETE", self._path)
