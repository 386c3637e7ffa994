"""The output of a command, as it comes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from ...commands import CommandLines, CommandOutput, CommandResult, OnOutput, OutputKeeper
from ...errors import ConnectionError
from ...models import CommandExit
from ..transport import Call, Transport

#: Seconds of silence after which the connection counts as cut; the service sends a line each 15.
SILENCE = 60.0


async def command_output(transport: Transport, call: Call) -> AsyncGenerator[CommandOutput | CommandExit]:
    """Pieces of output, and at last how the command ended. Raises ConnectionError where the answer ends before."""
    call.timeout = SILENCE
    lines = CommandLines()
    async with aclosing(transport.chunks(call)) as chunks:
        async for chunk in chunks:
            for output in lines.read(chunk):
                yield output
                if isinstance(output, CommandExit):
                    return
    raise ConnectionError(f"{call.name}: the connection was cut before the command ended")


async def result_of(
    outputs: AsyncGenerator[CommandOutput | CommandExit], on_stdout: OnOutput | None, on_stderr: OnOutput | None
) -> CommandResult:
    """Reads it to its end, and shows it as it comes."""
    kept = OutputKeeper(on_stdout, on_stderr)
    async with aclosing(outputs):
        async for output in outputs:
            if isinstance(output, CommandExit):
                return kept.result(output)
            kept.take(output)
    raise AssertionError("The output of a command ends with its exit")
