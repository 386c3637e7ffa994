"""When processes are started."""

from __future__ import annotations

from datetime import datetime
from typing import Unpack

from ..._operations import operation
from ..._settings import segment
from ...inputs import ScheduledProcessInput, SchedulePreviewInput
from ...models import (
    Execution,
    Schedule,
    ScheduleFiring,
    ScheduleFiringsPaginatedResult,
    SchedulePreview,
    SchedulesPaginatedResult,
)
from ..pages import Listing
from ..resource import Resource, body_of


class Schedules(Resource):
    """A schedule is named by its id."""

    @operation("getSchedules")
    def list(
        self, *, process_id: str | None = None, keywords: str | None = None, limit: int | None = None
    ) -> Listing[Schedule, SchedulesPaginatedResult]:
        """All schedules, or those of one process, or with these words in the name of their process."""
        query = {"process_id": process_id, "keywords": keywords, "limit": limit}
        return Listing(self._transport, "/schedules", SchedulesPaginatedResult, query)

    @operation("postProcessesByIdentifierSchedule")
    async def create(self, process: str, **schedule: Unpack[ScheduledProcessInput]) -> Schedule:
        """Makes a schedule of a process: with `cron`, or once at `date_time`."""
        path = f"/processes/{segment(process)}/schedule"
        return await self._transport.record(Schedule, "POST", path, json=body_of(ScheduledProcessInput, schedule))

    @operation("getSchedulesById")
    async def get(self, id: str) -> Schedule:
        """One schedule."""
        return await self._transport.record(Schedule, "GET", _path_of(id))

    @operation("patchSchedulesById")
    async def update(
        self, id: str, *, if_match: str | None = None, **changes: Unpack[ScheduledProcessInput]
    ) -> Schedule:
        """Changes what is given; with `if_match` only what was not changed meanwhile."""
        body = body_of(ScheduledProcessInput, changes)
        headers = {"If-Match": if_match}
        return await self._transport.record(Schedule, "PATCH", _path_of(id), json=body, headers=headers)

    @operation("deleteSchedulesById")
    async def delete(self, id: str, *, if_match: str | None = None) -> None:
        """Deletes it."""
        await self._transport.json("DELETE", _path_of(id), headers={"If-Match": if_match})

    @operation("putSchedulesByIdPause")
    async def pause(self, id: str, *, if_match: str | None = None) -> None:
        """It starts nothing until it is resumed."""
        await self._transport.json("PUT", f"{_path_of(id)}/pause", headers={"If-Match": if_match})

    @operation("putSchedulesByIdResume")
    async def resume(self, id: str, *, if_match: str | None = None) -> None:
        """It goes on, with the next time that comes."""
        await self._transport.json("PUT", f"{_path_of(id)}/resume", headers={"If-Match": if_match})

    @operation("postSchedulesByIdRun")
    async def run(self, id: str) -> Execution:
        """Starts its process now, as it would at its time."""
        return await self._transport.record(Execution, "POST", f"{_path_of(id)}/run")

    @operation("getSchedulesByIdFirings")
    def firings(self, id: str, *, limit: int | None = None) -> Listing[ScheduleFiring, ScheduleFiringsPaginatedResult]:
        """What became of its times, the newest first."""
        return Listing(self._transport, f"{_path_of(id)}/firings", ScheduleFiringsPaginatedResult, {"limit": limit})

    @operation("getSchedulesFirings")
    async def calendar(self, from_: datetime, to: datetime) -> tuple[ScheduleFiring, ...]:
        """Past and coming times of all schedules, the earliest first; at most 10,000. Times have a zone."""
        query = {"from": from_, "to": to}
        return await self._transport.record(tuple[ScheduleFiring, ...], "GET", "/schedules/firings", query=query)

    @operation("postSchedulesPreview")
    async def preview(self, **schedule: Unpack[SchedulePreviewInput]) -> SchedulePreview:
        """The next times of a `cron` or a `date_time` that is not saved."""
        body = body_of(SchedulePreviewInput, schedule)
        return await self._transport.record(SchedulePreview, "POST", "/schedules/preview", json=body)


def _path_of(id: str) -> str:
    return f"/schedules/{segment(id)}"
