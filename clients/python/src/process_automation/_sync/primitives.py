"""What differs between the clients with and without async. Its counterpart is written by hand, too."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeVar

import httpx2

from .._whole_file import whole_file

T = TypeVar("T")

HttpClient = httpx2.Client
Lock = threading.Lock
sleep = time.sleep


class TaskErrors(BaseExceptionGroup[BaseException]):
    """What groups of tasks raise: there are none here."""


def open_http() -> HttpClient:
    """As many connections as there are streams and calls: each live stream has one of its own."""
    return HttpClient(limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20))


def finished_or_undone(make: Callable[[], T], finish: Callable[[T], T], undo: Callable[[T], object]) -> T:
    """What is made, and finished. Where Ctrl-C ends the wait for that, it is undone."""
    made = make()
    try:
        return finish(made)
    except KeyboardInterrupt:
        with suppress(Exception):
            undo(made)
        raise


#: What uploads are made of; other iterables are read once.
Source = bytes | Path | IO[bytes] | Iterable[bytes]

CHUNK_BYTES = 256 * 1024


def chunks_of(source: Source) -> Generator[bytes]:
    """The bytes of a source, in pieces."""
    if isinstance(source, bytes):
        yield source
    elif isinstance(source, Path):
        with source.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk
    elif hasattr(source, "read"):
        while chunk := source.read(CHUNK_BYTES):
            yield chunk
    else:
        yield from source


def write_to(target: Path | IO[bytes], chunks: Iterator[bytes]) -> None:
    """Writes pieces to a file. One at a Path is there when all pieces are."""
    if isinstance(target, Path):
        with whole_file(target) as path, path.open("wb") as file:
            file.writelines(chunks)
    else:
        target.writelines(chunks)
