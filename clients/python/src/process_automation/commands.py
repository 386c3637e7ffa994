"""What commands in sandboxes give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import msgspec

from .errors import CommandError, SandboxError, UnexpectedAnswer
from .models import CommandExit

OnOutput = Callable[[str], None]


class CommandOptions(TypedDict, total=False):
    """How a command is to be run. All of them may be absent."""

    cwd: str | None
    """Absolute, or from the home directory, which is the default"""
    env: Mapping[str, str] | None
    """Added to the environment of the sandbox"""
    stdin: str | None
    """For its standard input, which ends behind it"""
    timeout: float | None
    """Seconds after which it is ended"""


@dataclass(frozen=True)
class CommandOutput:
    """A piece of output, as it comes."""

    stream: Literal["stdout", "stderr"]
    data: str
    lost_bytes: int = 0
    """How much is missing here, of a detached command that has written more than is kept"""


@dataclass(frozen=True)
class CommandResult:
    """A command that has ended."""

    exit_code: int
    """0 to 255; -1 where a signal ended it"""
    stdout: str
    stderr: str
    signal: str | None = None
    timed_out: bool = False

    def check(self) -> CommandResult:
        """Raises CommandError unless it has ended with 0."""
        if self.exit_code == 0:
            return self
        how = "its time was over" if self.timed_out else f"signal {self.signal}" if self.signal else "its own choice"
        words = (self.stderr or self.stdout).strip()[-2000:]
        raise CommandError(
            f"The command ended with {self.exit_code} ({how}): {words}",
            exit_code=self.exit_code,
            stdout=self.stdout,
            stderr=self.stderr,
        )


def command_body(command: Sequence[str], options: CommandOptions, *, detached: bool = False) -> bytes:
    """The input of a command: the program and its arguments. Raises ValueError without a program."""
    if isinstance(command, str) or not command:
        raise ValueError("A command is a list of its program and its arguments, such as ['sh', '-c', 'echo hello']")
    unknown = set(options) - set(CommandOptions.__annotations__)
    if unknown:
        raise TypeError(f"A command has no option {', '.join(sorted(unknown))}")
    seconds = options.get("timeout")
    members: dict[str, Any] = {
        "command": command[0],
        "args": [*command[1:]],
        "cwd": options.get("cwd"),
        "env": options.get("env"),
        "stdin": options.get("stdin"),
        "timeoutMs": None if seconds is None else round(seconds * 1000),
        "detached": detached,
    }
    return msgspec.json.encode({name: value for name, value in members.items() if value is not None})


class CommandLines:
    """Reads the lines of JSON that a command's answer has."""

    def __init__(self) -> None:
        self._held = b""

    def read(self, chunk: bytes) -> list[CommandOutput | CommandExit]:
        """What a piece of the answer completes. Raises SandboxError where the sandbox ended before the command."""
        *lines, self._held = (self._held + chunk).split(b"\n")
        made = [_line_of(line) for line in lines if line]
        return [one for one in made if one is not None]


def _line_of(line: bytes) -> CommandOutput | CommandExit | None:
    """None for a line that only keeps the connection, and for those that this release does not know."""
    try:
        members = msgspec.json.decode(line, type=dict[str, Any])
        kind = members.get("type")
        if kind == "exit":
            return msgspec.convert(members, CommandExit)
    except msgspec.MsgspecError as error:
        raise UnexpectedAnswer(f"The output of the command: {error}") from error
    if kind == "error":
        raise SandboxError(str(members.get("message")), code=str(members.get("code")))
    if kind == "lost":
        return CommandOutput("stdout", "", int(members.get("bytes", 0)))
    if kind in ("stdout", "stderr") and members.get("data"):
        return CommandOutput(kind, members["data"])
    return None


class OutputKeeper:
    """Collects the output of a command, and shows it as it comes."""

    def __init__(self, on_stdout: OnOutput | None, on_stderr: OnOutput | None) -> None:
        self._shown = {"stdout": on_stdout, "stderr": on_stderr}
        self._kept: dict[str, list[str]] = {"stdout": [], "stderr": []}

    def take(self, output: CommandOutput) -> None:
        """One piece."""
        self._kept[output.stream].append(output.data)
        show = self._shown[output.stream]
        if show is not None and output.data:
            show(output.data)

    def result(self, exit: CommandExit) -> CommandResult:
        """All of it."""
        stdout, stderr = ("".join(self._kept[name]) for name in ("stdout", "stderr"))
        return CommandResult(exit.code, stdout, stderr, exit.signal, bool(exit.timed_out))
