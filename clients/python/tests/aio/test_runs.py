"""Runs: started, followed, awaited."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from process_automation import AsyncClient, RunEnd, RunError, RunLog, RunStatus, WaitTimeout
from process_automation.inputs import DraftInput

pytestmark = pytest.mark.anyio

ECHO = "console.log('one'); console.warn('two'); return svc.context.parameters"


@dataclass
class Greeting:
    text: str
    times: int


async def test_a_run_is_followed_line_by_line_and_gives_its_value(pas: AsyncClient, name: str) -> None:
    await pas.processes.create(name=name, source_code=ECHO)
    parameters = {"text": "Ada", "times": 2}
    run = await pas.processes.run(name, parameters, timeout=60, comment="a test", initiated_by="Łukasz")
    assert [(entry.level, entry.message) async for entry in run.logs()] == [("INFO", "one"), ("WARNING", "two")]
    assert await run.result() == {"text": "Ada", "times": 2}
    assert await run.result(Greeting) == Greeting("Ada", 2)
    record = await run.get()
    assert (record.status, record.comment, record.settings.timeout) == ("FINISHED", "a test", 60_000)
    assert record.initiated_by == "Łukasz"


async def test_events_tell_of_status_log_and_end_and_go_on_behind_one_that_was_seen(
    pas: AsyncClient, name: str
) -> None:
    await pas.processes.create(name=name, source_code=ECHO)
    run = await pas.processes.run(name)
    events = [event async for event in run.events()]
    assert [type(event) for event in events] == [RunStatus, RunStatus, RunLog, RunLog, RunStatus, RunEnd]
    assert [event async for event in run.events(last_event_id=events[2].id)] == events[3:]


async def test_numbers_and_nulls_come_back_as_they_were_sent(pas: AsyncClient, name: str) -> None:
    await pas.processes.create(name=name, source_code="return svc.context.parameters", programming_language="PYTHON")
    values = {
        "big": 2**60 + 1,
        "small": 5e-324,
        "whole": 1,
        "null": None,
        "nested": [None, {"a": None}],
        "text": "\u2028é",
    }
    returned = await pas.processes.call(name, values)
    assert returned == values
    assert type(returned["whole"]) is int
    await pas.processes.update(name, source_code="return None")
    assert await pas.processes.call(name) is None


async def test_a_run_that_fails_raises_its_reason_and_the_end_of_its_log(pas: AsyncClient, name: str) -> None:
    source = "for (let i = 0; i < 45; i++) console.log(`line ${i}`)\nthrow new TypeError('no such thing')"
    await pas.processes.create(name=name, source_code=source)
    with pytest.raises(RunError, match="no such thing") as raised:
        await pas.processes.call(name)
    error = raised.value
    assert error.status == "ERROR"
    assert len(error.log_tail) == 20
    assert error.log_tail[0] == "line 26"
    assert "no such thing" in error.log_tail[-1]
    assert (await pas.executions.get(error.execution_id)).status == "ERROR"


async def test_waiting_ends_in_time_and_the_run_goes_on_until_it_is_killed(pas: AsyncClient, name: str) -> None:
    await pas.processes.create(name=name, source_code="await new Promise((done) => setTimeout(done, 60_000))")
    run = await pas.processes.run(name)
    with pytest.raises(WaitTimeout) as raised:
        await run.result(timeout=0.3)
    assert isinstance(raised.value, TimeoutError)
    assert raised.value.execution_id == run.id
    await run.kill()
    with pytest.raises(RunError) as killed:
        await run.result()
    assert killed.value.status == "KILLED"
    await run.kill()


async def test_short_runs_are_answered_in_one_request(pas: AsyncClient, name: str) -> None:
    await pas.processes.create(name=name, source_code=ECHO)
    assert await pas.processes.execute_sync(name, {"a": 1}) == {"a": 1}
    draft: DraftInput = {"source_code": "return 6 * 7", "programming_language": "JAVASCRIPT"}
    assert await pas.processes.execute_draft_sync(draft) == 42
    assert await (await pas.processes.run_draft(draft)).result() == 42
    assert await (await pas.processes.run(name, draft={"source_code": "return 'draft'"})).result() == "draft"


async def test_one_key_starts_one_run(pas: AsyncClient, name: str) -> None:
    await pas.processes.create(name=name, source_code=ECHO)
    first = await pas.processes.run(name, idempotency_key=name)
    second = await pas.processes.run(name, idempotency_key=name)
    third = await pas.processes.run(name)
    assert first.id == second.id != third.id


async def test_runs_are_listed_by_what_they_are_and_started_again(pas: AsyncClient, name: str) -> None:
    process = await pas.processes.create(name=name, source_code=ECHO)
    for number in range(5):
        await pas.processes.call(name, {"number": number})
    listed = [record async for record in pas.executions.list(process_id=process.id, status=["FINISHED"], limit=2)]
    assert [record.parameters for record in listed] == [{"number": number} for number in (4, 3, 2, 1, 0)]
    page = await pas.executions.list(process_id=process.id, limit=2).page(1)
    assert (page.total, page.has_next_page, len(page.data)) == (5, True, 2)
    again = await pas.executions.rerun(listed[0].id, parameters={"number": 9})
    assert await again.result() == {"number": 9}
    assert (await again.get()).rerun_of == listed[0].id
    assert [entry.message async for entry in pas.executions.logs(again.id, level="WARNING")] == ["two"]
    assert "one" in "".join([text async for text in pas.executions.log_text(again.id)])
    assert (await pas.executions.source(again.id)).source_code == ECHO
    assert (await pas.executions.waiting(again.id)).waiting is False
    assert [child async for child in pas.executions.children(again.id)] == []
    assert (await pas.executions.statistics(by="process")).series is not None


async def test_a_start_with_an_option_that_there_is_not_is_refused(pas: AsyncClient, name: str) -> None:
    with pytest.raises(TypeError, match="tags"):
        await pas.processes.run(name, tags="v1")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="sourcecode"):
        await pas.processes.create(name=name, sourcecode="return 1")  # type: ignore[call-arg]
