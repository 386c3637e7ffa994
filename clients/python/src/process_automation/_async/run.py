"""One run of a process."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, TypeVar, overload

import httpx2
import msgspec

from .._answers import read_json, record_of
from .._settings import segment
from ..errors import BadRequest, ConnectionError, RunError, TooManyRequests, Unavailable, WaitTimeout
from ..models import Execution, ExecutionLog, ExecutionLogsPaginatedResult, ExecutionTimelineEvent
from ..run_events import RunEnd, RunEvent, RunLog, RunStatus
from .event_stream import event_stream
from .primitives import sleep
from .transport import Transport

T = TypeVar("T")

ENDED = frozenset({"FINISHED", "ERROR", "KILLED", "REJECTED"})
LOG_TAIL_LINES = 20
#: Items up to which a list says how many there are, and the most that a page may have.
MOST_COUNTED, LARGE_PAGE = 10_000, 1000
#: Seconds beyond the end of a wait for the record that says whether the run has ended.
LAST_LOOK = 2.0


class Run:
    """A run that was started, or any that is known by its id."""

    def __init__(self, transport: Transport, id: str) -> None:
        self._transport = transport
        self.id = id
        self._path = f"/executions/{segment(id)}"

    def __repr__(self) -> str:
        return f"Run({self.id!r})"

    async def get(self) -> Execution:
        """Its record now."""
        return await self._record(math.inf)

    async def events(self, *, last_event_id: str | None = None) -> AsyncGenerator[RunEvent]:
        """Its status and its log, from the beginning and as they come, until its end; it goes on after a cut."""
        path = f"{self._path}/events"
        async with aclosing(event_stream(self._transport, path, last_event_id=last_event_id, is_there=True)) as stream:
            async for event in stream:
                made = _event_of(event)
                if made is not None:
                    yield made
                if isinstance(made, RunEnd):
                    return

    async def logs(self) -> AsyncGenerator[ExecutionLog]:
        """Its log, from the beginning and as it comes, until its end."""
        async with aclosing(self.events()) as events:
            async for event in events:
                if isinstance(event, RunLog):
                    yield event.entry

    async def wait(self, *, timeout: float | None = None) -> Execution:
        """Its record once it has ended, however. Raises WaitTimeout after `timeout` seconds; the run goes on."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        try:
            await self._await_end(deadline)
            record = await self._record(max(deadline, time.monotonic() + LAST_LOOK))
        except (ConnectionError, TooManyRequests, Unavailable) as error:
            if time.monotonic() < deadline:
                raise
            raise WaitTimeout(f"Run {self.id} is not known to have ended after {timeout} seconds", self.id) from error
        if record.status not in ENDED:
            raise WaitTimeout(f"Run {self.id} is {record.status} after {timeout} seconds, and goes on", self.id)
        return record

    @overload
    async def result(self, *, timeout: float | None = None) -> Any: ...

    @overload
    async def result(self, type: type[T], *, timeout: float | None = None) -> T: ...

    async def result(self, type: Any = Any, *, timeout: float | None = None) -> Any:
        """
        What it has returned, as `type` where one is given: a dataclass, a typed dictionary, a struct of msgspec. Raises
        RunError when it ended without a value, and WaitTimeout after `timeout` seconds; the run goes on then.
        """
        record = await self.wait(timeout=timeout)
        if record.status != "FINISHED":
            raise RunError(
                status=record.status,
                execution_id=self.id,
                explanation=_explanation_of(record),
                log_tail=await self._log_tail(),
            )
        return read_json(record.return_value or "null", type, f"The value of run {self.id}")

    async def kill(self) -> None:
        """Ends it. Nothing happens where it has ended."""
        try:
            await self._transport.json("PUT", f"{self._path}/kill")
        except BadRequest as error:
            if error.code != "execution_ended":
                raise

    async def _record(self, ends_at: float) -> Execution:
        call = self._transport.call("GET", self._path)
        call.ends_at = ends_at
        return record_of(await self._transport.send(call), Execution)

    async def _await_end(self, deadline: float) -> None:
        try:
            await self._follow(deadline)
        except TooManyRequests:
            # The team has as many streams open as it may.
            await self._poll(deadline)

    async def _follow(self, deadline: float) -> None:
        def seconds_left() -> float:
            return deadline - time.monotonic()

        path = f"{self._path}/events"
        events = event_stream(self._transport, path, seconds_left=seconds_left, is_there=True, has_other_way=True)
        async with aclosing(events) as stream:
            async for event in stream:
                if event.event == "end":
                    return

    async def _poll(self, deadline: float) -> None:
        pause = 0.2
        while (await self._record(deadline)).status not in ENDED and time.monotonic() < deadline:
            await sleep(min(pause, max(0.0, deadline - time.monotonic())))
            pause = min(pause * 1.5, 5.0)

    async def _log_tail(self) -> list[str]:
        path = f"{self._path}/logs"
        kind = ExecutionLogsPaginatedResult
        first = await self._transport.record(kind, "GET", path, query={"limit": LOG_TAIL_LINES})
        if not first.has_next_page:
            return [entry.message for entry in first.data]
        # A longer list is counted no further: the pages lead to its end.
        limit = LOG_TAIL_LINES if first.total <= MOST_COUNTED else LARGE_PAGE
        page = max(math.ceil(first.total / limit) - 2, 0)
        tail: list[str] = []
        has_next = True
        while has_next:
            at = await self._transport.record(kind, "GET", path, query={"limit": limit, "page": page})
            tail = [*tail, *(entry.message for entry in at.data)][-LOG_TAIL_LINES:]
            page += 1
            has_next = at.has_next_page
        return tail


def _explanation_of(record: Execution) -> str:
    if record.timeline.explanation:
        return record.timeline.explanation
    return f"{record.error.name}: {record.error.message}" if record.error else "no reason is known"


def _event_of(event: httpx2.ServerSentEvent) -> RunEvent | None:
    """None for events that this release does not know."""
    where = f"The event {event.event}"
    if event.event == "log":
        return RunLog(event.id, read_json(event.data, ExecutionLog, where))
    if event.event == "status":
        return RunStatus(event.id, read_json(event.data, ExecutionTimelineEvent, where))
    if event.event == "end":
        return RunEnd(event.id, msgspec.json.decode(event.data, type=dict[str, Any]).get("status", ""))
    return None
