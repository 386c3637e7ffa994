"""What happens in the team, as it happens."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from ..._answers import read_json
from ..._operations import operation
from ...team_event import TeamEvent
from ..event_stream import event_stream
from ..resource import Resource


class Events(Resource):
    """One live stream for all of the team."""

    @operation("getEvents")
    async def stream(
        self,
        *,
        types: Sequence[str] | None = None,
        process_id: str | None = None,
        last_event_id: str | None = None,
    ) -> AsyncGenerator[TeamEvent]:
        """
        Events without an end, from now on or from behind `last_event_id`; an event may come again after a cut. `types`
        are some of `execution`, `process`, `schedule`, `install` and `sandbox`. The event `gap` says that some are
        missing, which are to be read from the lists.
        """
        query = {"types": types, "process_id": process_id}
        stream = event_stream(self._transport, "/events", query=query, last_event_id=last_event_id)
        async with aclosing(stream):
            async for event in stream:
                if event.data:
                    data = read_json(event.data, dict[str, Any], f"The event {event.event}")
                    yield TeamEvent(event.id or None, event.event, data)
