"""What differs between the clients with and without async. Its counterpart is written by hand, too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeVar

import anyio
import anyio.to_thread
import httpx2

from .._whole_file import whole_file

T = TypeVar("T")

HttpClient = httpx2.AsyncClient
Lock = anyio.Lock
sleep = anyio.sleep
#: What groups of tasks raise.
TaskErrors = BaseExceptionGroup


def open_http() -> HttpClient:
    """As many connections as there are streams and calls: each live stream has one of its own."""
    return HttpClient(limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20))


async def finished_or_undone(
    make: Callable[[], Coroutine[Any, Any, T]],
    finish: Callable[[T], Awaitable[T]],
    undo: Callable[[T], Awaitable[object]],
) -> T:
    """What is made, and finished. Where the caller is cancelled meanwhile, it is undone as soon as it is made."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # Trio's.
        with anyio.CancelScope(shield=True):
            made = await make()
        try:
            return await finish(made)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True), suppress(Exception):
                await undo(made)
            raise
    making = loop.create_task(make())
    try:
        return await finish(await asyncio.shield(making))
    except asyncio.CancelledError:

        async def undo_made() -> None:
            with suppress(Exception):
                await undo(await making)

        undoing = loop.create_task(undo_made())
        # A scope that is cancelled would cancel this wait, too, and a task may be cancelled once more.
        with anyio.CancelScope(shield=True):
            while not undoing.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([undoing])
        raise


#: What uploads are made of; other iterables are read once.
Source = bytes | Path | IO[bytes] | Iterable[bytes] | AsyncIterable[bytes]

CHUNK_BYTES = 256 * 1024


async def chunks_of(source: Source) -> AsyncGenerator[bytes]:
    """The bytes of a source, in pieces; files are read in a thread."""
    if isinstance(source, bytes):
        yield source
    elif isinstance(source, Path):
        async with await anyio.open_file(source, "rb") as file:
            while chunk := await file.read(CHUNK_BYTES):
                yield chunk
    elif isinstance(source, AsyncIterable):
        async for chunk in source:
            yield chunk
    elif hasattr(source, "read"):
        while chunk := await anyio.to_thread.run_sync(source.read, CHUNK_BYTES):
            yield chunk
    else:
        for chunk in source:
            yield chunk


async def write_to(target: Path | IO[bytes], chunks: AsyncIterator[bytes]) -> None:
    """Writes pieces to a file, in a thread. One at a Path is there when all pieces are."""
    if isinstance(target, Path):
        with whole_file(target) as path:
            async with await anyio.open_file(path, "wb") as file:
                async for chunk in chunks:
                    await file.write(chunk)
    else:
        async for chunk in chunks:
            await anyio.to_thread.run_sync(target.write, chunk)
