"""The files of a sandbox."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import IO

from ..._operations import operation
from ..._settings import segment
from ...models import SandboxFileEntry
from ..primitives import Source, write_to
from ..transport import Transport


class Files:
    """Paths are absolute: `/tmp/data.csv`."""

    def __init__(self, transport: Transport, sandbox: str) -> None:
        self._transport = transport
        self._sandbox = sandbox

    @operation("getSandboxesBySandboxIdFilesByPath")
    async def read(self, path: str) -> bytes:
        """All of a file."""
        return b"".join([chunk async for chunk in self.download(path)])

    async def text(self, path: str) -> str:
        """All of a file, as text in UTF-8."""
        return (await self.read(path)).decode()

    async def download(self, path: str) -> AsyncGenerator[bytes]:
        """A file in pieces."""
        call = self._transport.call("GET", self._path(path))
        call.headers["Accept"] = "application/octet-stream"
        async for chunk in self._transport.chunks(call):
            yield chunk

    async def save(self, path: str, target: Path | IO[bytes]) -> None:
        """Writes a file of the sandbox to a file here. One at a Path is there when all of it is."""
        async with aclosing(self.download(path)) as chunks:
            await write_to(target, chunks)

    async def list(self, path: str) -> tuple[SandboxFileEntry, ...]:
        """What a directory has, by name."""
        return await self._transport.record(tuple[SandboxFileEntry, ...], "GET", self._path(path))

    @operation("putSandboxesBySandboxIdFilesByPath")
    async def write(self, path: str, source: Source | str) -> None:
        """
        Writes a file with the directories above it: text, bytes, the file at a Path, an open file, or an iterable of
        bytes. It is there when all of it is.
        """
        call = self._transport.call("PUT", self._path(path))
        call.headers["Content-Type"] = "application/octet-stream"
        call.body = source.encode() if isinstance(source, str) else source
        await self._transport.send(call)

    @operation("deleteSandboxesBySandboxIdFilesByPath")
    async def delete(self, path: str, *, recursive: bool = False) -> None:
        """Deletes a file or an empty directory; with `recursive` also a full one."""
        query = {"recursive": True} if recursive else {}
        await self._transport.json("DELETE", self._path(path), query=query)

    def _path(self, path: str) -> str:
        if not path.startswith("/"):
            raise ValueError(f"{path!r} is not absolute")
        return f"{self._sandbox}/files/{segment(path.lstrip('/'), keep_slashes=True) if path.strip('/') else '%2F'}"
