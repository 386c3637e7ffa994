"""A command in a sandbox that goes on without its caller."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from ..._operations import operation
from ...commands import CommandOutput, CommandResult, OnOutput, OutputKeeper
from ...models import CommandExit
from ..transport import Transport
from .output import command_output


class Detached:
    """It ends by itself, with its sandbox, or by `end`."""

    def __init__(self, transport: Transport, path: str, id: str) -> None:
        self._transport = transport
        self._path = path
        self.id = id

    @operation("getSandboxesBySandboxIdCommandsByCommandId")
    async def output(self) -> AsyncGenerator[CommandOutput | CommandExit]:
        """What is kept of its output, what it writes from now on, and at last how it ended."""
        async for output in command_output(self._transport, self._transport.call("GET", self._path)):
            yield output

    async def wait(self, *, on_stdout: OnOutput | None = None, on_stderr: OnOutput | None = None) -> CommandResult:
        """Waits for its end, and gives what is kept of its output."""
        kept = OutputKeeper(on_stdout, on_stderr)
        async for output in self.output():
            if isinstance(output, CommandExit):
                return kept.result(output)
            kept.take(output)
        raise AssertionError("The output of a command ends with its exit")

    @operation("deleteSandboxesBySandboxIdCommandsByCommandId")
    async def end(self) -> None:
        """Ends it and all that it started, and forgets it."""
        await self._transport.json("DELETE", self._path)
