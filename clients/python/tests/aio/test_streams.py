"""Streams that are cut go on where they were."""

from __future__ import annotations

from contextlib import aclosing
from types import SimpleNamespace

import pytest
from cutting_proxy import CuttingProxy

from process_automation import AsyncClient, ConnectionError
from process_automation._async import event_stream

pytestmark = pytest.mark.anyio

LINES = 60
SOURCE = f"""
for (let i = 0; i < {LINES}; i++) {{
  console.log(`line ${{i}}`)
  await new Promise((done) => setTimeout(done, 20))
}}
return 'done'"""


async def test_a_log_that_is_cut_goes_on_without_a_gap_and_without_a_line_twice(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str
) -> None:
    await pas.processes.create(name=name, source_code=SOURCE)
    run = await cut_pas.processes.run(name)
    lines = []
    async for entry in run.logs():
        lines.append(entry.message)
        if entry.message in ("line 3", "line 20"):
            proxy.cut()
    assert lines == [f"line {number}" for number in range(LINES)]
    assert proxy.count("/events ") >= 2
    assert await run.result() == "done"


async def test_the_wait_for_a_result_outlives_cuts(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str
) -> None:
    await pas.processes.create(name=name, source_code=SOURCE)
    run = await cut_pas.processes.run(name)
    proxy.cut_after("/events ", 900)
    assert await run.result(timeout=60) == "done"


async def test_a_stream_that_brought_a_comment_alone_is_asked_for_as_patiently_as_before(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # By this clock each request comes longer after the one before than a stream that fails is asked for again.
    clock = SimpleNamespace(monotonic=lambda: 2 * event_stream.PATIENCE * proxy.count("/events "))
    monkeypatch.setattr(event_stream, "time", clock)
    await pas.processes.create(name=name, source_code="console.log('line')")
    run = cut_pas.executions.run((await pas.processes.run(name)).id)
    for is_open in (False, True, False):
        if is_open:
            proxy.answer("/events ", 200, ": here\n\n", Content_Type="text/event-stream")
        else:
            for _ in range(3):
                proxy.answer("/events ", 503, Retry_After="0")
    assert [entry.message async for entry in run.logs()] == ["line"]
    assert proxy.count("/events ") == 8


async def test_a_stream_that_ends_at_once_each_time_is_given_up(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(monotonic=lambda: event_stream.PATIENCE * 2 / 3 * proxy.count("/events "))
    monkeypatch.setattr(event_stream, "time", clock)
    await pas.processes.create(name=name, source_code="console.log('line')")
    run = cut_pas.executions.run((await pas.processes.run(name)).id)
    for _ in range(5):
        proxy.answer("/events ", 200, Content_Type="text/event-stream")
    with pytest.raises(ConnectionError, match=f"{run.id}/events: .* brings nothing"):
        _ = [entry async for entry in run.logs()]
    assert proxy.count("/events ") == 3


async def test_a_stream_that_is_refused_for_their_number_leaves_the_result_to_be_asked_for(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str
) -> None:
    await pas.processes.create(name=name, source_code="await new Promise((done) => setTimeout(done, 500)); return 1")
    run = await cut_pas.processes.run(name)
    for _ in range(3):
        proxy.answer("/events ", 429, Retry_After="0")
    assert await run.result() == 1


async def test_events_of_the_team_come_as_things_happen_and_resume(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str
) -> None:
    # Long enough for a stream to be open before the end.
    source = "await new Promise((done) => setTimeout(done, 1500)); return 1"
    process = await pas.processes.create(name=name, source_code=source)
    first = await pas.processes.run(name)
    ended: list[str] = []
    last = None
    async with aclosing(cut_pas.events.stream(types=["execution"], process_id=process.id)) as events:
        async for event in events:
            if event.execution and event.execution.status == "FINISHED":
                ended.append(event.execution.id)
                if len(ended) == 2:
                    break
                last = event.id
                proxy.cut()
                second = await pas.processes.run(name)
    assert ended == [first.id, second.id]
    async with aclosing(pas.events.stream(process_id=process.id, last_event_id=last)) as events:
        async for event in events:
            if event.execution and event.execution.status == "FINISHED":
                assert event.execution.id == second.id
                break
