"""The files of the team."""

from __future__ import annotations

import hashlib
import math
import random
import time
from base64 import b64encode
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import IO, Any

import httpx2

from ..._answers import record_of
from ..._operations import operation
from ..._retries import delay_after_cut
from ..._settings import segment
from ...errors import ConnectionError, TooManyRequests, Unavailable, UnexpectedAnswer
from ...inputs import CreateStorageUploadInput, SignedUrlRequest
from ...models import (
    SignedUrl,
    StorageFolder,
    StorageObject,
    StorageUpload,
    StorageUploadPart,
    StorageUsage,
)
from ...storage_entries import entries_of
from ..primitives import Source, chunks_of, sleep, write_to
from ..resource import Resource, body_of, given
from ..transport import Call

#: Sources that are larger, or of which the size is not known, go in parts.
PARTS_FROM_BYTES = 64 * 1024 * 1024
#: Entries in a page of a list.
PAGE_ENTRIES = 1000
#: Seconds from a cut for which more of a download is asked for, unless the client asks once.
PATIENCE = 30.0


class Storage(Resource):
    """A file is named by its path, such as `reports/2026.csv`."""

    @operation("getStorageObjects")
    async def list(
        self, *, prefix: str | None = None, delimiter: str | None = None, after: str | None = None
    ) -> AsyncGenerator[StorageObject | StorageFolder]:
        """Files by name; with the delimiter `/` those of one folder, and its folders."""
        while True:
            query = {"prefix": prefix, "delimiter": delimiter, "after": after, "limit": PAGE_ENTRIES}
            entries = entries_of(await self._transport.json("GET", "/storage/objects", query=query))
            for entry in entries:
                yield entry
            if len(entries) < PAGE_ENTRIES:
                return
            last = entries[-1]
            after = last.prefix if isinstance(last, StorageFolder) else last.name

    @operation("postStorageObjects")
    async def upload(
        self, name: str, source: Source, *, content_type: str | None = None, resume: str | None = None
    ) -> None:
        """
        Writes a file, in place of one of the same name: bytes, the file at a Path, an open file, or an iterable of
        bytes. What has more than 64 MiB, or no known size, goes in parts, each of which is repeated where it was cut.
        Where that does not help, the error's notes name the upload: give it as `resume`, with the same name and source.
        Raises ValueError where `resume` is the upload of another file.
        """
        size = size_of(source)
        if resume is not None or size is None or size > PARTS_FROM_BYTES:
            await self._upload_parts(name, source, size, content_type, resume)
            return
        call = self._transport.call("POST", "/storage/objects", query={"filename": name})
        call.headers["Content-Type"] = content_type or "application/octet-stream"
        call.headers["Content-Length"] = str(size)
        call.body = source
        # The same content again makes the same file.
        call.is_repeatable = True
        await self._transport.send(call)

    @operation("getStorageObjectsByFilename")
    async def download(self, name: str) -> AsyncGenerator[bytes]:
        """A file in pieces. A download that is cut goes on where it was, unless the file is another then."""
        path = f"/storage/objects/{segment(name, keep_slashes=True)}"
        received = 0
        etag: str | None = None
        patience = PATIENCE if self._transport.settings.max_retries else 0.0
        attempt = 0
        ends_at = math.inf
        while True:
            headers = {"Range": f"bytes={received}-", "If-Match": etag} if received and etag else {}
            call = self._transport.call("GET", path, headers=headers)
            call.ends_at = ends_at
            try:
                response = await self._transport.send(call, stream=True)
                etag = response.headers.get("etag")
                try:
                    if received and response.status_code != 206:
                        raise UnexpectedAnswer(f"The download of {name} was cut, and goes on from its beginning alone")
                    async for chunk in response.aiter_bytes():
                        received += len(chunk)
                        attempt, ends_at = 0, math.inf
                        yield chunk
                    return
                finally:
                    await response.aclose()
            except (httpx2.TransportError, ConnectionError, TooManyRequests, Unavailable) as error:
                if etag is None and not isinstance(error, httpx2.TransportError):
                    raise  # It was never open.
                ends_at = min(ends_at, time.monotonic() + patience)
                delay = delay_after_cut(min(attempt, 4), random.random())
                if etag is None or time.monotonic() + delay >= ends_at:
                    raise ConnectionError(f"The download of {name} was cut after {received} bytes") from error
                attempt += 1
                await sleep(delay)

    async def read(self, name: str) -> bytes:
        """All of a file."""
        return b"".join([chunk async for chunk in self.download(name)])

    async def save(self, name: str, target: Path | IO[bytes]) -> None:
        """Writes a file of the team to a file here. One at a Path is there when all of it is."""
        async with aclosing(self.download(name)) as chunks:
            await write_to(target, chunks)

    @operation("deleteStorageObjectsByFilename")
    async def delete(self, name: str) -> None:
        """Deletes a file."""
        await self._transport.json("DELETE", f"/storage/objects/{segment(name, keep_slashes=True)}")

    @operation("getStorageUsage")
    async def usage(self) -> StorageUsage:
        """How much the team keeps."""
        return await self._transport.record(StorageUsage, "GET", "/storage/usage")

    @operation("postStorageSignedUrls")
    async def sign(self, path: str, *, expires_in_seconds: int | None = None) -> SignedUrl:
        """A link by which anybody may download a file for a time."""
        body = body_of(SignedUrlRequest, given(path=path, expires_in_seconds=expires_in_seconds))
        return await self._transport.record(SignedUrl, "POST", "/storage/signed-urls", json=body)

    @operation("getStorageSignedByFilename")
    async def download_signed(self, url: str) -> AsyncGenerator[bytes]:
        """A file by its link, in pieces."""
        async for chunk in self._transport.chunks(Call("GET", url, with_token=False)):
            yield chunk

    @operation("postStorageUploads")
    async def create_upload(
        self, name: str, *, size: int | None = None, content_type: str | None = None
    ) -> StorageUpload:
        """Begins an upload in parts; `upload` does all of it."""
        body = body_of(CreateStorageUploadInput, given(name=name, size=size, content_type=content_type))
        return await self._transport.record(StorageUpload, "POST", "/storage/uploads", json=body)

    @operation("getStorageUploads")
    async def uploads(self) -> tuple[StorageUpload, ...]:
        """Uploads that are open."""
        return await self._transport.record(tuple[StorageUpload, ...], "GET", "/storage/uploads")

    @operation("getStorageUploadsById")
    async def get_upload(self, id: str) -> StorageUpload:
        """An upload with the parts that have come."""
        return await self._transport.record(StorageUpload, "GET", _upload_path(id))

    @operation("putStorageUploadsByIdPartsByNumber")
    async def put_part(self, id: str, number: int, content: bytes) -> StorageUploadPart:
        """Sends a part, from 1; one that was damaged on its way is refused."""
        call = self._transport.call("PUT", f"{_upload_path(id)}/parts/{number}")
        call.headers["Content-Type"] = "application/octet-stream"
        call.headers["Content-MD5"] = b64encode(hashlib.md5(content, usedforsecurity=False).digest()).decode()
        call.body = content
        return record_of(await self._transport.send(call), StorageUploadPart)

    @operation("postStorageUploadsByIdComplete")
    async def complete_upload(self, id: str) -> StorageObject:
        """Makes the object of its parts; waits where that takes long. Asked again it gives the same answer."""
        attempt = 0
        while True:
            try:
                return await self._transport.record(StorageObject, "POST", f"{_upload_path(id)}/complete")
            except (ConnectionError, Unavailable) as error:
                is_going_on = isinstance(error, Unavailable) and error.code == "upload_completing"
                attempt += 0 if is_going_on else 1
                if attempt > self._transport.settings.max_retries:
                    raise
                await sleep((error.retry_after if isinstance(error, Unavailable) else None) or 1.0)

    @operation("deleteStorageUploadsById")
    async def abort_upload(self, id: str) -> None:
        """Drops an upload with its parts."""
        await self._transport.json("DELETE", _upload_path(id))

    async def _upload_parts(
        self, name: str, source: Source, size: int | None, content_type: str | None, resume: str | None
    ) -> None:
        if resume is None:
            upload = await self.create_upload(name, size=size, content_type=content_type)
        else:
            upload = await self.get_upload(resume)
            if upload.name != name:
                raise ValueError(f"The upload {resume} is one of {upload.name}, not of {name}")
        try:
            there = {part.number: part for part in upload.parts or []}
            number = 0
            async with aclosing(parts_of(source, upload.part_size)) as parts:
                async for part in parts:
                    number += 1
                    kept = there.pop(number, None)
                    if kept is None or kept.etag != hashlib.md5(part, usedforsecurity=False).hexdigest():
                        await self.put_part(upload.id, number, part)
            if there:
                raise ValueError(
                    f"The upload {upload.id} has parts behind the end of this source: it was begun with another"
                )
            await self.complete_upload(upload.id)
        except ConnectionError as error:
            error.add_note(f"The upload goes on with resume={upload.id!r}")
            raise


def _upload_path(id: str) -> str:
    return f"/storage/uploads/{segment(id)}"


def size_of(source: Source) -> int | None:
    """In bytes from where it is read; None where it is not known."""
    if isinstance(source, bytes):
        return len(source)
    if isinstance(source, Path):
        return source.stat().st_size
    seekable: Any = getattr(source, "seekable", None)
    if seekable is None or not seekable():
        return None
    file: Any = source
    at = file.tell()
    size: int = file.seek(0, 2) - at
    file.seek(at)
    return size


async def parts_of(source: Source, bytes_each: int) -> AsyncGenerator[bytes]:
    """A source in parts of this size; at least one, which may be empty."""
    held = bytearray()
    is_first = True
    async with aclosing(chunks_of(source)) as chunks:
        async for chunk in chunks:
            held += chunk
            while len(held) >= bytes_each:
                yield bytes(held[:bytes_each])
                del held[:bytes_each]
                is_first = False
    if held or is_first:
        yield bytes(held)
