"""Runs that were started, by whomever."""

from __future__ import annotations

import codecs
from collections.abc import AsyncGenerator, Sequence
from datetime import datetime
from typing import Unpack

from ..._operations import operation
from ..._settings import segment
from ...inputs import ReplayExecutionInput, RerunExecutionInput
from ...models import (
    Execution,
    ExecutionChildrenPaginatedResult,
    ExecutionId,
    ExecutionLog,
    ExecutionLogsPaginatedResult,
    ExecutionRequest,
    ExecutionSource,
    ExecutionsPaginatedResult,
    ExecutionWaiting,
    Statistics,
)
from ...words import Bucket, ExecutionOrigin, ExecutionStatus, LogLevel
from ..pages import Listing
from ..resource import Resource, body_of
from ..run import Run


class Executions(Resource):
    """An execution is named by its id. `run` gives one as a started run is: with its logs, its result, its kill."""

    @operation("getExecutions")
    def list(
        self,
        *,
        status: ExecutionStatus | Sequence[ExecutionStatus] | None = None,
        process_id: str | None = None,
        scheduled_id: str | None = None,
        version_id: str | None = None,
        origin: ExecutionOrigin | Sequence[ExecutionOrigin] | None = None,
        trial: bool | None = None,
        keywords: str | None = None,
        comment: str | None = None,
        q: str | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
        limit: int | None = None,
    ) -> Listing[Execution, ExecutionsPaginatedResult]:
        """Executions that all of these fit, the newest first. A loop misses none that ends or begins meanwhile."""
        query = {
            "status": status,
            "process_id": process_id,
            "scheduled_id": scheduled_id,
            "version_id": version_id,
            "origin": origin,
            "trial": trial,
            "keywords": keywords,
            "comment": comment,
            "q": q,
            "from": from_,
            "to": to,
            "limit": limit,
        }
        return Listing(self._transport, "/executions", ExecutionsPaginatedResult, query, has_cursor=True)

    @operation("getExecutionsById")
    async def get(self, id: str) -> Execution:
        """Its record with its timeline."""
        return await self._transport.record(Execution, "GET", _path_of(id))

    @operation("getExecutionsByIdEvents")
    def run(self, id: str) -> Run:
        """The run with this id; nothing is asked of the service."""
        return Run(self._transport, id)

    @operation("putExecutionsByIdKill")
    async def kill(self, id: str) -> None:
        """Ends it. Nothing happens where it has ended."""
        await self.run(id).kill()

    @operation("postExecutionsByIdRerun")
    async def rerun(self, id: str, **changes: Unpack[RerunExecutionInput]) -> Run:
        """Starts a new run of the same version and parameters, aside from what is given. It is never asked for twice."""
        body = body_of(RerunExecutionInput, changes)
        return Run(self._transport, await self._transport.record(str, "POST", f"{_path_of(id)}/rerun", json=body))

    @operation("postExecutionsByIdReplay")
    async def replay(self, id: str, **changes: Unpack[ReplayExecutionInput]) -> Run:
        """Starts a new run with the same request of a webhook."""
        body = body_of(ReplayExecutionInput, changes)
        started = await self._transport.record(ExecutionId, "POST", f"{_path_of(id)}/replay", json=body)
        return Run(self._transport, started.execution_id)

    @operation("getExecutionsByIdLogs")
    def logs(
        self,
        id: str,
        *,
        level: LogLevel | Sequence[LogLevel] | None = None,
        contains: str | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
        limit: int | None = None,
    ) -> Listing[ExecutionLog, ExecutionLogsPaginatedResult]:
        """What it has logged until now, the oldest first. `run(id).logs()` goes on until its end."""
        query = {"level": level, "contains": contains, "from": from_, "to": to, "limit": limit}
        return Listing(self._transport, f"{_path_of(id)}/logs", ExecutionLogsPaginatedResult, query)

    async def log_text(
        self, id: str, *, level: LogLevel | Sequence[LogLevel] | None = None, contains: str | None = None
    ) -> AsyncGenerator[str]:
        """Its whole log as text, in pieces as they come."""
        call = self._transport.call("GET", f"{_path_of(id)}/logs", query={"level": level, "contains": contains})
        call.headers["Accept"] = "text/plain"
        # A piece may end within a character.
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        async for chunk in self._transport.chunks(call):
            yield decoder.decode(chunk)
        yield decoder.decode(b"", final=True)

    @operation("getExecutionsByIdChildren")
    def children(self, id: str, *, limit: int | None = None) -> Listing[Execution, ExecutionChildrenPaginatedResult]:
        """The executions that its code has started."""
        return Listing(self._transport, f"{_path_of(id)}/children", ExecutionChildrenPaginatedResult, {"limit": limit})

    @operation("getExecutionsByIdRequest")
    async def request(self, id: str) -> ExecutionRequest:
        """The request of the webhook that it was started with."""
        return await self._transport.record(ExecutionRequest, "GET", f"{_path_of(id)}/request")

    @operation("getExecutionsByIdWaiting")
    async def waiting(self, id: str) -> ExecutionWaiting:
        """Whether it waits, for what, and what to do about it."""
        return await self._transport.record(ExecutionWaiting, "GET", f"{_path_of(id)}/waiting")

    @operation("getExecutionsByIdSource")
    async def source(self, id: str) -> ExecutionSource:
        """The source that it has run, with its modules."""
        return await self._transport.record(ExecutionSource, "GET", f"{_path_of(id)}/source")

    @operation("getExecutionsStatistics")
    async def statistics(
        self,
        *,
        from_: datetime | None = None,
        to: datetime | None = None,
        bucket: Bucket | None = None,
        by: str | None = None,
        process_id: str | None = None,
    ) -> Statistics:
        """How many started, ended and failed, and how long they took. `by` is `process`, `status` or `origin`."""
        query = {"from": from_, "to": to, "bucket": bucket, "by": by, "process_id": process_id}
        return await self._transport.record(Statistics, "GET", "/executions/statistics", query=query)


def _path_of(id: str) -> str:
    return f"/executions/{segment(id)}"
