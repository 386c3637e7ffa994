"""One sandbox: its commands, files, ports and terminals."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from types import TracebackType
from typing import Self, Unpack

from ..._answers import record_of
from ..._operations import operation
from ..._settings import segment
from ...commands import CommandOptions, CommandOutput, CommandResult, OnOutput, command_body
from ...errors import NotFound, SandboxError
from ...models import CommandExit, DetachedCommand, DetachedCommandStart
from ...models import Sandbox as SandboxRecord
from ..primitives import sleep
from ..transport import Transport
from .detached import Detached
from .files import Files
from .output import command_output, result_of
from .terminal import Terminal, open_terminal


class Sandbox:
    """A sandbox that runs. As a `with` block it is killed at the end."""

    def __init__(self, transport: Transport, record: SandboxRecord) -> None:
        self._transport = transport
        self._path = f"/sandboxes/{segment(record.id)}"
        #: As it was read last.
        self.record = record
        self.files = Files(transport, self._path)

    def __repr__(self) -> str:
        return f"Sandbox({self.id!r}, {self.record.status})"

    @property
    def id(self) -> str:
        return self.record.id

    def url(self, port: int) -> str:
        """Where one of its public ports is reached. Raises KeyError for one that it was not created with."""
        return self.record.public_urls[str(port)]

    @operation("getSandboxesBySandboxId")
    async def refresh(self) -> SandboxRecord:
        """Its record now."""
        self.record = await self._transport.record(SandboxRecord, "GET", self._path)
        return self.record

    async def ready(self) -> Self:
        """Waits until it runs. Raises SandboxError where it ended before."""
        pause = 0.05
        while self.record.status == "PENDING":
            await sleep(pause)
            pause = min(pause * 1.5, 1.0)
            await self.refresh()
        if self.record.status != "RUNNING":
            reason = self.record.reason or "it ended"
            raise SandboxError(f"Sandbox {self.id} is {self.record.status}: {reason}", code="sandbox_failed")
        return self

    async def run(
        self,
        command: Sequence[str],
        *,
        on_stdout: OnOutput | None = None,
        on_stderr: OnOutput | None = None,
        **options: Unpack[CommandOptions],
    ) -> CommandResult:
        """
        Runs a program with its arguments to its end, and gives its output, which `on_stdout` and `on_stderr` get as it
        comes. Any exit code is a result; `check()` of it raises. The command ends when its caller goes.
        """
        return await result_of(self.stream(command, **options), on_stdout, on_stderr)

    @operation("postSandboxesBySandboxIdCommands")
    async def stream(
        self, command: Sequence[str], **options: Unpack[CommandOptions]
    ) -> AsyncGenerator[CommandOutput | CommandExit]:
        """The output of a command as it comes, and at last how it ended. It is never started twice."""
        call = self._transport.call("POST", f"{self._path}/commands", json=command_body(command, options))
        async with aclosing(command_output(self._transport, call)) as outputs:
            async for output in outputs:
                yield output

    async def detach(self, command: Sequence[str], **options: Unpack[CommandOptions]) -> Detached:
        """Starts a command that goes on without its caller."""
        body = command_body(command, options, detached=True)
        started = await self._transport.record(DetachedCommandStart, "POST", f"{self._path}/commands", json=body)
        return self.detached(started.command_id)

    def detached(self, command_id: str) -> Detached:
        """A detached command by its id."""
        return Detached(self._transport, f"{self._path}/commands/{segment(command_id)}", command_id)

    @operation("getSandboxesBySandboxIdCommands")
    async def commands(self) -> tuple[DetachedCommand, ...]:
        """Its detached commands, the oldest first."""
        return await self._transport.record(tuple[DetachedCommand, ...], "GET", f"{self._path}/commands")

    @operation("getSandboxesBySandboxIdTerminal")
    @asynccontextmanager
    async def terminal(self, *, columns: int = 80, rows: int = 24) -> AsyncIterator[Terminal]:
        """A shell in a terminal, for a `with` block. Wants the extra `[sandbox]`."""
        async with open_terminal(self._transport, f"{self._path}/terminal", columns, rows) as terminal:
            yield terminal

    @operation("postSandboxesBySandboxId")
    async def extend(self, timeout: float) -> SandboxRecord:
        """Moves its end to so many seconds from now."""
        self.record = await self._transport.record(
            SandboxRecord, "POST", self._path, json=b'{"timeout":%d}' % round(timeout * 1000)
        )
        return self.record

    @operation("postSandboxesBySandboxIdKill")
    async def kill(self) -> None:
        """Ends it with all that runs in it; one that has ended stays as it is."""
        call = self._transport.call("POST", f"{self._path}/kill")
        call.is_repeatable = True
        self.record = record_of(await self._transport.send(call), SandboxRecord)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        with suppress(NotFound):
            await self.kill()
