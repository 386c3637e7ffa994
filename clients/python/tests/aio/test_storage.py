"""Files of the team."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cutting_proxy import CuttingProxy

from process_automation import AsyncClient, ConnectionError, NotFound, PreconditionFailed

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


async def test_an_upload_goes_on_under_its_name_and_with_all_of_its_parts_alone(pas: AsyncClient, name: str) -> None:
    begun = await pas.storage.create_upload(name)
    for number in (1, 2):
        await pas.storage.put_part(begun.id, number, b"part")
    with pytest.raises(ValueError, match=f"one of {name}, not of {name}-other"):
        await pas.storage.upload(f"{name}-other", b"part", resume=begun.id)
    with pytest.raises(ValueError, match="behind the end"):
        await pas.storage.upload(name, b"part", resume=begun.id)
    with pytest.raises(NotFound):
        await pas.storage.read(name)
    await pas.storage.abort_upload(begun.id)


async def test_a_download_that_is_cut_goes_on_where_it_was(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str
) -> None:
    content = os.urandom(2 * MIB)
    await pas.storage.upload(name, content)
    proxy.cut_after(f"/objects/{name}", MIB)
    # The service is away for longer than one call is repeated.
    for _ in range(3):
        proxy.answer(f"/objects/{name}", 503, Retry_After="0")
        proxy.lose_answer(f"/objects/{name}")
    assert await cut_pas.storage.read(name) == content
    assert proxy.count(f"/objects/{name}") == 8


async def test_a_file_here_is_replaced_when_all_of_the_other_has_come(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str, tmp_path: Path
) -> None:
    here = tmp_path / "here"
    here.write_bytes(b"before")
    here.chmod(0o600)
    with pytest.raises(NotFound):
        await pas.storage.save(f"{name}-absent", here)
    await pas.storage.upload(name, bytes(2 * MIB))
    proxy.cut_after(f"/objects/{name}", MIB)
    proxy.answer(f"/objects/{name}", 412)
    with pytest.raises(PreconditionFailed):
        await cut_pas.storage.save(name, here)
    assert (here.read_bytes(), [*tmp_path.iterdir()]) == (b"before", [here])
    link = tmp_path / "link"
    link.symlink_to(here)
    await pas.storage.save(name, link)
    assert (here.read_bytes(), here.stat().st_mode & 0o777) == (bytes(2 * MIB), 0o600)
    assert (link.is_symlink(), sorted(tmp_path.iterdir())) == (True, [here, link])


async def test_what_is_no_file_here_is_written_to_and_stays(pas: AsyncClient, name: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    await pas.storage.upload(name, b"text")
    await pas.storage.save(name, pipe)
    assert os.read(reader, 100) == b"text"
    os.close(reader)
    assert pipe.is_fifo()
    with pytest.raises(IsADirectoryError):
        await pas.storage.save(name, tmp_path)
