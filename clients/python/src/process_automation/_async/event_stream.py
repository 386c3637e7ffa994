"""Server-sent events that go on after a cut."""

from __future__ import annotations

import math
import random
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

import httpx2

from .._retries import delay_after_cut
from ..errors import ConnectionError, TooManyRequests, Unavailable, UnexpectedAnswer
from .primitives import sleep
from .transport import Transport

#: Seconds of silence after which a stream counts as cut: three of the service's comments.
SILENCE = 45.0
#: A wait may take so much longer: each stream that is opened counts against the team's limits, and one that brings much is
#: opened anew only where it could outlast that.
LATE_PART = 0.1
#: Seconds for which a stream that brings nothing, not even a comment, is asked for again.
PATIENCE = 60.0


async def event_stream(
    transport: Transport,
    path: str,
    *,
    query: Mapping[str, Any] | None = None,
    last_event_id: str | None = None,
    seconds_left: Callable[[], float] = lambda: math.inf,
    is_there: bool = False,
    has_other_way: bool = False,
) -> AsyncGenerator[httpx2.ServerSentEvent]:
    """
    Events without an end: a stream that ends or is cut is asked for again, from behind the last event. One that was never
    open is asked for again where `is_there` says that the service has it. It ends when no seconds are left. One too many
    of the team is TooManyRequests where it was never open, or where the caller `has_other_way`. Raises ConnectionError
    where nothing comes for longer than PATIENCE.
    """
    was_open = False
    late = LATE_PART * seconds_left()
    failing_since: float | None = None
    attempt = 0

    def hear() -> None:
        nonlocal failing_since, attempt
        failing_since, attempt = None, 0

    while True:
        silence = min(SILENCE, seconds_left())
        if silence <= 0:
            return
        call = transport.call("GET", path, query=query, timeout=silence)
        call.ends_at = time.monotonic() + seconds_left()
        call.headers["Accept"] = "text/event-stream"
        if last_event_id:
            call.headers["Last-Event-ID"] = last_event_id
        try:
            response = await transport.send(call, stream=True)
        except (ConnectionError, TooManyRequests, Unavailable) as error:
            failing_since = failing_since or time.monotonic()
            is_too_many = isinstance(error, TooManyRequests)
            may_come = was_open and not has_other_way if is_too_many else was_open or is_there
            if not may_come or time.monotonic() - failing_since > PATIENCE:
                raise
        else:
            was_open = True
            failing_since = failing_since or time.monotonic()
            try:
                answer: Any = TimedAnswer(response, seconds_left, max(silence - late, 0.0), hear)
                async for event in httpx2.EventSource(answer):
                    last_event_id = event.id or last_event_id
                    yield event
            except httpx2.SSEError as error:
                raise UnexpectedAnswer(f"GET {path}: {error}") from error
            except httpx2.TransportError:
                # Cut: it is asked for again.
                pass
            finally:
                await response.aclose()
        if seconds_left() <= 0:
            return
        if failing_since is not None and time.monotonic() - failing_since > PATIENCE:
            raise ConnectionError(f"GET {path}: the stream brings nothing, however often it is opened")
        await sleep(min(delay_after_cut(min(attempt, 4), random.random()), max(0.0, seconds_left())))
        attempt += 1


class TimedAnswer:
    """What an event source reads of an answer. Its text ends early where a shorter limit for silence is needed."""

    def __init__(
        self,
        response: httpx2.Response,
        seconds_left: Callable[[], float],
        least: float,
        hear: Callable[[], None],
    ) -> None:
        self.headers = response.headers
        self.request = response.request
        self._response = response
        self._seconds_left = seconds_left
        #: With fewer seconds left it ends.
        self._least = least
        #: Is told that something has come.
        self._hear = hear

    async def aiter_text(self) -> AsyncGenerator[str]:
        async for text in self._response.aiter_text():
            self._hear()
            yield text
            if self._seconds_left() < self._least:
                return
