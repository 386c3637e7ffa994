"""Sandboxes: commands, files, ports and terminals."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from cutting_proxy import CuttingProxy

from process_automation import AsyncClient, BadRequest, CommandError, CommandOutput, ConnectionError
from process_automation._async.sandbox.sandbox import Sandbox
from process_automation.models import CommandExit

pytestmark = pytest.mark.anyio


async def test_a_sandbox_runs_commands_and_keeps_files_until_its_block_ends(
    pas: AsyncClient, name: str, tmp_path: Path
) -> None:
    async with await pas.sandboxes.create(name=name, timeout=300, ports=[3000], metadata={"first_name": "Ada"}) as box:
        assert (box.record.status, box.record.metadata) == ("RUNNING", {"first_name": "Ada"})
        assert box.url(3000).startswith("http")
        await commands(box)
        await files(box, tmp_path)
        await detached(box)
        assert (await box.extend(600)).timeout_at > box.record.created_at
        assert box.id in [one.id async for one in pas.sandboxes.list()]
        assert "base" in [image.id for image in await pas.sandboxes.images()]
    assert (await pas.sandboxes.get(box.id)).record.status == "KILLED"
    with pytest.raises(BadRequest) as raised:
        await box.run(["true"])
    assert raised.value.code == "sandbox_ended"


async def commands(box: Sandbox) -> None:
    shown: list[str] = []
    script = "import sys; print(input()[::-1], flush=True); print('ö', file=sys.stderr); sys.exit(3)"
    result = await box.run(["python3", "-c", script], stdin="hello", env={"A": "b"}, cwd="/tmp", on_stdout=shown.append)
    assert (result.exit_code, result.stdout, result.stderr) == (3, "olleh\n", "ö\n")
    assert "".join(shown) == "olleh\n"
    with pytest.raises(CommandError, match="ö") as raised:
        result.check()
    assert raised.value.exit_code == 3
    late = await box.run(["sleep", "30"], timeout=0.3)
    assert (late.timed_out, late.exit_code) == (True, -1)
    outputs = [output async for output in box.stream(["sh", "-c", "echo one; echo two"])]
    assert "".join(output.data for output in outputs if isinstance(output, CommandOutput)) == "one\ntwo\n"
    assert isinstance(outputs[-1], CommandExit)
    with pytest.raises(BadRequest):
        await box.run(["no-such-program"])
    with pytest.raises(ValueError, match="list"):
        await box.run("ls")


async def files(box: Sandbox, tmp_path: Path) -> None:
    await box.files.write("/tmp/of-test/text ö.txt", "text")
    await box.files.write("/tmp/of-test/bytes", b"\x00\xff")
    await box.files.write("/tmp/of-test/file", io.BytesIO(b"file"))
    (tmp_path / "here").write_bytes(b"path")
    await box.files.write("/tmp/of-test/path", tmp_path / "here")
    assert await box.files.text("/tmp/of-test/text ö.txt") == "text"
    assert await box.files.read("/tmp/of-test/bytes") == b"\x00\xff"
    await box.files.save("/tmp/of-test/file", tmp_path / "there")
    assert (tmp_path / "there").read_bytes() == b"file"
    entries = await box.files.list("/tmp/of-test")
    assert [(entry.name, entry.type, entry.size) for entry in entries][-1] == ("text ö.txt", "file", 4)
    assert len(await box.files.list("/")) > 3
    await box.files.delete("/tmp/of-test", recursive=True)
    with pytest.raises(ValueError, match="absolute"):
        await box.files.read("relative")


async def detached(box: Sandbox) -> None:
    command = await box.detach(["sh", "-c", "echo started; sleep 0.3; exit 7"])
    result = await command.wait()
    assert (result.exit_code, result.stdout) == (7, "started\n")
    assert [(one.command_id, one.exit and one.exit.code) for one in await box.commands()] == [(command.id, 7)]
    await command.end()
    assert await box.commands() == ()


async def test_a_command_whose_connection_is_cut_says_so_and_is_not_run_again(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy
) -> None:
    async with await pas.sandboxes.create(timeout=300) as box:
        cut_box = await cut_pas.sandboxes.get(box.id)
        script = "echo ran >> /tmp/ran; echo first; sleep 30"
        with pytest.raises(ConnectionError):
            await cut_box.run(["sh", "-c", script], on_stdout=lambda text: proxy.cut())
        assert await box.files.text("/tmp/ran") == "ran\n"


async def test_a_sandbox_whose_last_answer_is_lost_has_ended_with_its_block(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy
) -> None:
    async with await cut_pas.sandboxes.create(timeout=300) as box:
        proxy.lose_answer("/kill ")
    assert proxy.count("/kill ") == 2
    assert (await pas.sandboxes.get(box.id)).record.status == "KILLED"
    # An operator may have removed it meanwhile.
    async with await cut_pas.sandboxes.get(box.id):
        proxy.answer("/kill ", 404)


async def test_a_terminal_shows_what_is_typed(pas: AsyncClient) -> None:
    async with await pas.sandboxes.create(timeout=300) as box:
        try:
            async with box.terminal(columns=100, rows=30) as terminal:
                await terminal.resize(90, 20)
                await terminal.write("stty size; echo $((6*7)); exit 3\r")
                shown = b"".join([data async for data in terminal])
        except BadRequest as error:
            # The machine gives sandboxes no terminals of their own.
            if error.code == "terminal_unavailable":
                return
            raise
        assert b"20 90" in shown
        assert b"42" in shown
        assert terminal.exit
        assert terminal.exit.code == 3


async def test_a_terminal_that_is_refused_or_left_says_why(pas: AsyncClient) -> None:
    async with await pas.sandboxes.create(timeout=300) as box:
        with pytest.raises(BadRequest, match="cols"):
            async with box.terminal(columns=5000):
                pass
        with pytest.raises((KeyError, BadRequest), match=r"mine|terminal"):
            async with box.terminal():
                raise KeyError("mine")
