"""Files of the team."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cutting_proxy import CuttingProxy

from process_automation import AsyncClient, ConnectionError, NotFound

pytestmark = pytest.mark.anyio

MIB = 1024 * 1024


async def test_all_kinds_of_sources_become_files_and_come_back(pas: AsyncClient, name: str, tmp_path: Path) -> None:
    content = os.urandom(3 * MIB)
    here = tmp_path / "here.bin"
    here.write_bytes(content)
    await pas.storage.upload(f"{name}/bytes", content)
    await pas.storage.upload(f"{name}/path", here)
    with here.open("rb") as file:
        await pas.storage.upload(f"{name}/file", file)
    await pas.storage.upload(f"{name}/deep/er ö?.txt", b"text", content_type="text/plain")
    for part in ("bytes", "path", "file"):
        assert await pas.storage.read(f"{name}/{part}") == content
    await pas.storage.save(f"{name}/path", tmp_path / "there.bin")
    assert (tmp_path / "there.bin").read_bytes() == content
    kept = io.BytesIO()
    await pas.storage.save(f"{name}/deep/er ö?.txt", kept)
    assert kept.getvalue() == b"text"
    entries = [entry async for entry in pas.storage.list(prefix=f"{name}/", delimiter="/")]
    assert [getattr(entry, "prefix", None) or getattr(entry, "name", None) for entry in entries] == [
        f"{name}/bytes",
        f"{name}/deep/",
        f"{name}/file",
        f"{name}/path",
    ]
    assert (await pas.storage.usage()).stored_bytes >= 3 * len(content)
    link = await pas.storage.sign(f"{name}/bytes", expires_in_seconds=60)
    assert b"".join([chunk async for chunk in pas.storage.download_signed(link.url)]) == content
    await pas.storage.delete(f"{name}/bytes")
    with pytest.raises(NotFound):
        await pas.storage.read(f"{name}/bytes")


async def test_a_file_whose_answer_is_lost_is_sent_again_unless_it_can_be_read_only_once(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str, tmp_path: Path
) -> None:
    (tmp_path / "here").write_bytes(b"here")
    proxy.lose_answer("/objects?")
    await cut_pas.storage.upload(name, tmp_path / "here")
    assert proxy.count("/objects?") == 2
    assert await pas.storage.read(name) == b"here"
    proxy.lose_answer("/objects?")
    with pytest.raises(ConnectionError):
        await cut_pas.storage.upload(name, io.BytesIO(b"once"))


async def test_an_upload_in_parts_repeats_a_part_that_is_cut_and_goes_on_later(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str
) -> None:
    content = os.urandom(18 * MIB)

    def pieces() -> Iterator[bytes]:
        view = memoryview(content)
        for at in range(0, len(content), MIB):
            yield bytes(view[at : at + MIB])

    proxy.lose_answer("/parts/1 ")
    await cut_pas.storage.upload(name, pieces())
    assert proxy.count("/parts/1 ") == 2
    assert await pas.storage.read(name) == content
    for _ in range(3):
        proxy.lose_answer("/parts/2 ")
    with pytest.raises(ConnectionError) as raised:
        await cut_pas.storage.upload(f"{name}-later", pieces())
    upload = next(one for one in await pas.storage.uploads() if one.name == f"{name}-later")
    assert upload.id in raised.value.__notes__[0]
    before = proxy.count("/parts/1 ")
    await cut_pas.storage.upload(f"{name}-later", pieces(), resume=upload.id)
    assert proxy.count("/parts/1 ") == before
    assert await pas.storage.read(f"{name}-later") == content
    dropped = await pas.storage.create_upload(f"{name}-dropped")
    await pas.storage.abort_upload(dropped.id)


async def test_a_download_that_is_cut_goes_on_where_it_was(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str
) -> None:
    content = os.urandom(2 * MIB)
    await pas.storage.upload(name, content)
    proxy.cut_after(f"/objects/{name}", MIB)
    assert await cut_pas.storage.read(name) == content
    assert proxy.count(f"/objects/{name}") == 2
