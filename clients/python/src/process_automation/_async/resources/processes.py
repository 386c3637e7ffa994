"""Processes, and starts of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from ..._operations import operation
from ..._settings import segment
from ...inputs import CreateProcessInput, DraftInput, UpdateProcessInput
from ...models import (
    ListedProcess,
    Process,
    ProcessesPaginatedResult,
    ProcessSummariesPaginatedResult,
    ProcessSummary,
    VersionedProcess,
    VersionedProcessAlias,
    VersionedProcessAliasesPaginatedResult,
    VersionedProcessesPaginatedResult,
)
from ...start_options import RunOptions, StartOptions
from ..pages import Listing
from ..resource import Resource, body_of
from ..run import Run
from ..transport import Transport
from .aliases import Aliases
from .starts import start, start_and_wait
from .versions import ProcessVersions


class Processes(Resource):
    """A process is named by its slug or its id."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.versions = ProcessVersions(transport, "/processes", VersionedProcess, VersionedProcessesPaginatedResult)
        self.aliases = Aliases(transport, "/processes", VersionedProcessAlias, VersionedProcessAliasesPaginatedResult)

    @operation("getProcesses")
    def list(
        self, *, keywords: str | None = None, tags: str | None = None, limit: int | None = None
    ) -> Listing[ListedProcess, ProcessesPaginatedResult]:
        """All processes, or those with these words in their name, or these tags. `limit` is of a page, as in all lists."""
        query = {"keywords": keywords, "tags": tags, "limit": limit}
        return Listing(self._transport, "/processes", ProcessesPaginatedResult, query)

    @operation("getProcessesSummaries")
    def summaries(
        self, *, keywords: str | None = None, tags: str | None = None, limit: int | None = None
    ) -> Listing[ProcessSummary, ProcessSummariesPaginatedResult]:
        """How each process fares: its last run, its last day, its next firing."""
        query = {"keywords": keywords, "tags": tags, "limit": limit}
        return Listing(self._transport, "/processes/summaries", ProcessSummariesPaginatedResult, query)

    @operation("postProcesses")
    async def create(self, **process: Unpack[CreateProcessInput]) -> Process:
        """Makes a process. `warnings` of the answer tell of faults in its source."""
        return await self._transport.record(Process, "POST", "/processes", json=body_of(CreateProcessInput, process))

    @operation("getProcessesByIdentifier")
    async def get(self, identifier: str) -> Process:
        """A process with its source."""
        return await self._transport.record(Process, "GET", _path_of(identifier))

    @operation("patchProcessesByIdentifier")
    async def update(
        self, identifier: str, *, if_match: str | None = None, **changes: Unpack[UpdateProcessInput]
    ) -> Process:
        """
        Changes what is given; None clears. With the `etag` of what was read as `if_match` it raises PreconditionFailed
        where somebody else has changed it meanwhile.
        """
        body = body_of(UpdateProcessInput, changes)
        headers = {"If-Match": if_match}
        return await self._transport.record(Process, "PATCH", _path_of(identifier), json=body, headers=headers)

    @operation("deleteProcessesByIdentifier")
    async def delete(self, identifier: str, *, if_match: str | None = None) -> None:
        """Deletes it with its versions, schedules and executions."""
        await self._transport.json("DELETE", _path_of(identifier), headers={"If-Match": if_match})

    @operation("postProcessesByIdentifierExecute")
    async def run(
        self, identifier: str, parameters: Mapping[str, Any] | None = None, **options: Unpack[StartOptions]
    ) -> Run:
        """
        Starts a run and does not wait for it. A start whose answer is lost is asked for again under the same key, which
        starts nothing twice.
        """
        return await start(self._transport, f"{_path_of(identifier)}/execute", parameters, options)

    async def call(
        self, identifier: str, parameters: Mapping[str, Any] | None = None, **options: Unpack[StartOptions]
    ) -> Any:
        """Starts a run, waits for its end however long it takes, and gives its value. Raises RunError where it has none."""
        run = await self.run(identifier, parameters, **options)
        return await run.result()

    @operation("postProcessesByIdentifierExecuteSync")
    async def execute_sync(
        self, identifier: str, parameters: Mapping[str, Any] | None = None, **options: Unpack[StartOptions]
    ) -> Any:
        """
        Starts a run and gives its value in one request, for short runs. The service waits less than a minute: then it
        raises RequestTimeout with the code `execution_timeout`, and the run goes on. One that fails raises ServerFault.
        """
        return await start_and_wait(self._transport, f"{_path_of(identifier)}/execute-sync", parameters, options)

    @operation("postProcessesDraftExecute")
    async def run_draft(
        self, draft: DraftInput, parameters: Mapping[str, Any] | None = None, **options: Unpack[RunOptions]
    ) -> Run:
        """Starts a run of a source that no process is stored for; `programming_language` is that of the draft."""
        given: StartOptions = {**options, "draft": draft}
        return await start(self._transport, "/processes/draft/execute", parameters, given)

    @operation("postProcessesDraftExecuteSync")
    async def execute_draft_sync(
        self, draft: DraftInput, parameters: Mapping[str, Any] | None = None, **options: Unpack[RunOptions]
    ) -> Any:
        """Runs a source that no process is stored for, and gives its value as `execute_sync` does."""
        given: StartOptions = {**options, "draft": draft}
        return await start_and_wait(self._transport, "/processes/draft/execute-sync", parameters, given)


def _path_of(identifier: str) -> str:
    return f"/processes/{segment(identifier)}"
