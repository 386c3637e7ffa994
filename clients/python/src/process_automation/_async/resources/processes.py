"""Processes, and their runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from ..._operations import operation
from ..._settings import segment
from ...inputs import (
    CreateProcessInput,
    DraftInput,
    ExecutionSettingsInput,
    ScheduledProcessInput,
    SendWebhookInput,
    UpdateProcessInput,
)
from ...models import (
    ListedProcess,
    Process,
    ProcessesPaginatedResult,
    ProcessSummariesPaginatedResult,
    ProcessSummary,
    Schedule,
    SentWebhook,
    WebhookDelivery,
)
from ..pages import Listing
from ..resource import Resource, body_of
from ..run import Run
from ..transport import Transport
from .process_aliases import ProcessAliases
from .process_versions import ProcessVersions
from .starts import start, start_and_wait, start_call


class Processes(Resource):
    """Processes are named by their slug or their id."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.versions = ProcessVersions(transport)
        self.aliases = ProcessAliases(transport)

    @operation("getProcesses")
    def list(
        self, *, keywords: str | None = None, tags: Sequence[str] | None = None, limit: int | None = None
    ) -> Listing[ListedProcess, ProcessesPaginatedResult]:
        """All processes, or those with these words in their name and these tags. `limit` is of a page."""
        query = {"keywords": keywords, "tags": tags, "limit": limit}
        return Listing(self._transport, "/processes", ProcessesPaginatedResult, query)

    @operation("getProcessesSummaries")
    def summaries(
        self, *, keywords: str | None = None, tags: Sequence[str] | None = None, limit: int | None = None
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
        return await self._transport.record(Process, "GET", path_of(identifier))

    @operation("patchProcessesByIdentifier")
    async def update(
        self, identifier: str, *, if_match: str | None = None, **changes: Unpack[UpdateProcessInput]
    ) -> Process:
        """
        Changes what is given; None clears. With the `etag` of what was read as `if_match` it raises PreconditionFailed
        where somebody else has changed it meanwhile.
        """
        return await self._transport.record(
            Process,
            "PATCH",
            path_of(identifier),
            json=body_of(UpdateProcessInput, changes),
            headers={"If-Match": if_match},
        )

    @operation("deleteProcessesByIdentifier")
    async def delete(self, identifier: str, *, if_match: str | None = None) -> None:
        """Deletes it with its versions, schedules and executions."""
        await self._transport.json("DELETE", path_of(identifier), headers={"If-Match": if_match})

    @operation("postProcessesByIdentifierExecute", "postProcessesDraftExecute")
    async def run(
        self,
        identifier: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        tag: str | None = None,
        timeout: float | None = None,
        comment: str | None = None,
        settings: ExecutionSettingsInput | None = None,
        draft: DraftInput | None = None,
        initiated_by: str | None = None,
        idempotency_key: str | None = None,
    ) -> Run:
        """
        Starts a run and does not wait for it. `tag` is a version's tag or id, or an alias; `timeout` the seconds that the
        run may take. A `draft` runs in place of the stored source; the identifier `draft` stands for no process.

        A start whose answer is lost is asked for again under the same key, which starts nothing twice. A key of your own
        does so for 24 hours.
        """
        call = start_call(
            self._transport,
            f"{path_of(identifier)}/execute",
            parameters=parameters,
            tag=tag,
            timeout=timeout,
            comment=comment,
            settings=settings,
            draft=draft,
            initiated_by=initiated_by,
            idempotency_key=idempotency_key,
        )
        return await start(self._transport, call)

    async def call(
        self,
        identifier: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        tag: str | None = None,
        timeout: float | None = None,
        comment: str | None = None,
        initiated_by: str | None = None,
    ) -> Any:
        """Starts a run, waits for its end however long it takes, and gives its value. Raises RunError where it has none."""
        run = await self.run(
            identifier, parameters, tag=tag, timeout=timeout, comment=comment, initiated_by=initiated_by
        )
        return await run.result()

    @operation("postProcessesByIdentifierExecuteSync", "postProcessesDraftExecuteSync")
    async def execute_sync(
        self,
        identifier: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        tag: str | None = None,
        timeout: float | None = None,
        comment: str | None = None,
        settings: ExecutionSettingsInput | None = None,
        draft: DraftInput | None = None,
        initiated_by: str | None = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """
        Starts a run and gives its value in one request, for short runs. The service waits less than a minute: then it
        raises RequestTimeout with the code `execution_timeout`, and the run goes on.
        """
        call = start_call(
            self._transport,
            f"{path_of(identifier)}/execute-sync",
            parameters=parameters,
            tag=tag,
            timeout=timeout,
            comment=comment,
            settings=settings,
            draft=draft,
            initiated_by=initiated_by,
            idempotency_key=idempotency_key,
        )
        return await start_and_wait(self._transport, call)

    @operation("postProcessesByIdentifierSchedule")
    async def schedule(self, identifier: str, **schedule: Unpack[ScheduledProcessInput]) -> Schedule:
        """Makes a schedule of a process: with `cron`, or once at `date_time`."""
        path = f"{path_of(identifier)}/schedule"
        return await self._transport.record(Schedule, "POST", path, json=body_of(ScheduledProcessInput, schedule))

    @operation("postProcessesByIdentifierWebhookSend")
    async def send_webhook(self, identifier: str, **request: Unpack[SendWebhookInput]) -> SentWebhook:
        """Has the service send a request to the process's webhook, signed where wanted."""
        path = f"{path_of(identifier)}/webhook/send"
        return await self._transport.record(SentWebhook, "POST", path, json=body_of(SendWebhookInput, request))

    @operation("getProcessesByIdentifierWebhookDeliveries")
    async def webhook_deliveries(self, identifier: str) -> Sequence[WebhookDelivery]:
        """The last 100 calls of its webhook, refused ones included."""
        path = f"{path_of(identifier)}/webhook/deliveries"
        return await self._transport.record(LIST_OF_DELIVERIES, "GET", path)


def path_of(identifier: str) -> str:
    """Below the REST interface of the team."""
    return f"/processes/{segment(identifier)}"


# The method `list` hides the type within the class.
LIST_OF_DELIVERIES = list[WebhookDelivery]
