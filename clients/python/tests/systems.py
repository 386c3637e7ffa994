"""Where the system is that the tests speak to, and systems of their own that they may restart."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cutting_proxy import CuttingProxy

REPOSITORY = Path(os.environ["REPOSITORY"])


@dataclass(frozen=True)
class System:
    """Where a system is reached."""

    host: str
    team: str
    api_token: str

    def behind(self, proxy: CuttingProxy) -> System:
        return System(f"http://127.0.0.1:{proxy.port}", self.team, self.api_token)


class StartedSystem:
    """A system of the tests' own, which they may restart."""

    def __init__(self, *settings: str) -> None:
        node = REPOSITORY / "node_modules/.bin/node"
        command = [str(node), "e2e/clients/system.ts", *settings]
        self._process = subprocess.Popen(
            command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.system = self._read()

    def restart(self) -> None:
        """Kills it, and comes back when it is there again."""
        self.begin_restart()
        self.await_restart()

    def begin_restart(self) -> None:
        assert self._process.stdin
        self._process.stdin.write("restart\n")
        self._process.stdin.flush()

    def await_restart(self) -> None:
        assert self._read() == self.system

    def stop(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        assert self._process.wait(timeout=60) == 0

    def _read(self) -> System:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "the system did not start"
        members = json.loads(line)
        return System(members["host"], members["team"], members["apiToken"])
