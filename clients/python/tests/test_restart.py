"""Clients and a system that is killed and comes back, and whose tokens live a short time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import aclosing

import pytest
from systems import StartedSystem

from process_automation import AsyncClient, Client, RequestTimeout, RunError

#: Seconds.
TOKEN_LIFE = 3


@pytest.fixture(scope="module")
def started() -> Iterator[StartedSystem]:
    own = StartedSystem(f"ACCESS_TOKEN_TTL_S={TOKEN_LIFE}", "SYNC_WAIT_MAX_MS=1000")
    yield own
    own.stop()


def test_a_log_is_followed_for_longer_than_tokens_live(started: StartedSystem) -> None:
    system = started.system
    source = "for (let i = 0; i < 50; i++) { console.log(i); await new Promise((done) => setTimeout(done, 100)) }"
    with Client(system.host, system.team, system.api_token) as pas:
        pas.processes.create(name="long", source_code=source)
        run = pas.processes.run("long")
        assert [entry.message for entry in run.logs()] == [str(number) for number in range(50)]
        record = run.get()
        assert record.ended_at
        assert (record.ended_at - record.created_at).total_seconds() > TOKEN_LIFE


def test_a_run_that_outlasts_the_patience_of_an_answer_is_awaited_by_its_id(started: StartedSystem) -> None:
    system = started.system
    with Client(system.host, system.team, system.api_token) as pas:
        source = "await new Promise((done) => setTimeout(done, 2000)); return 'late'"
        process = pas.processes.create(name="late", source_code=source)
        with pytest.raises(RequestTimeout) as raised:
            pas.processes.execute_sync("late")
        assert raised.value.code == "execution_timeout"
        assert raised.value.execution_id
        assert pas.executions.run(raised.value.execution_id).result() == "late"
        assert pas.processes.call("late") == "late"
        assert len(list(pas.executions.list(process_id=process.id))) == 2


def test_waits_and_streams_outlive_a_restart(started: StartedSystem) -> None:
    system = started.system
    before = Client(system.host, system.team, system.api_token)
    before.processes.create(name="short", source_code="return 'short'")
    before.processes.create(name="endless", source_code="await new Promise((done) => setTimeout(done, 600_000))")

    opened, restarted, seen = threading.Event(), threading.Event(), threading.Event()

    def restart() -> None:
        # A stream that was never open is given up.
        while not (opened.is_set() or seen.is_set()):
            assert before.processes.call("short") == "short"
        started.restart()
        restarted.set()
        while not seen.is_set():
            assert before.processes.call("short") == "short"

    async def during() -> None:
        async with AsyncClient(system.host, system.team, system.api_token) as pas:
            lost = await pas.processes.run("endless")
            async with aclosing(lost.events()) as events:
                await anext(events)
            restarting = threading.Thread(target=restart)
            restarting.start()
            try:
                await asyncio.gather(is_told_of_the_loss(pas, lost.id), sees_the_next_run(pas))
            finally:
                seen.set()
                await asyncio.to_thread(restarting.join)

    async def is_told_of_the_loss(pas: AsyncClient, id: str) -> None:
        with pytest.raises(RunError) as raised:
            await pas.executions.run(id).result()
        assert raised.value.status == "ERROR"

    async def sees_the_next_run(pas: AsyncClient) -> None:
        async with aclosing(pas.events.stream(types=["execution"])) as events:
            async for event in events:
                opened.set()
                if not restarted.is_set():
                    continue
                if event.execution and event.execution.process_slug == "short" and event.execution.status == "FINISHED":
                    seen.set()
                    return

    asyncio.run(during())
    before.close()
