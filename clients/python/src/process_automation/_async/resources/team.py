"""The team, and what it has and uses."""

from __future__ import annotations

from datetime import datetime
from typing import Unpack

from ..._operations import operation
from ...inputs import UpdateTeamInput
from ...models import (
    AuditEvent,
    AuditEventsPaginatedResult,
    DatastoreEntry,
    DatastorePaginatedResult,
    Limits,
    Team,
    Usage,
)
from ...words import AuditEventType
from ..pages import Listing
from ..resource import Resource, body_of


class TeamResource(Resource):
    """The team of the client."""

    @operation("getTeam")
    async def get(self) -> Team:
        """Its record."""
        return await self._transport.record(Team, "GET", "/team")

    @operation("patchTeam")
    async def update(self, *, if_match: str | None = None, **changes: Unpack[UpdateTeamInput]) -> Team:
        """Changes what is given; with `if_match` only what was not changed meanwhile."""
        body = body_of(UpdateTeamInput, changes)
        return await self._transport.record(Team, "PATCH", "/team", json=body, headers={"If-Match": if_match})

    @operation("getTeams")
    async def list(self) -> tuple[Team, ...]:
        """The teams that the token names."""
        return await self._transport.record(tuple[Team, ...], "GET", "/teams")

    @operation("getLimits")
    async def limits(self) -> Limits:
        """What it may have, and how much of it is in use."""
        return await self._transport.record(Limits, "GET", "/limits")

    @operation("getUsage")
    async def usage(self, *, from_: datetime | None = None, to: datetime | None = None, by: str | None = None) -> Usage:
        """What runs have used, `by` `process` or `day`."""
        return await self._transport.record(Usage, "GET", "/usage", query={"from": from_, "to": to, "by": by})

    @operation("getAuditEvents")
    def audit_events(
        self,
        *,
        type: AuditEventType | None = None,
        entity_id: str | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
        limit: int | None = None,
    ) -> Listing[AuditEvent, AuditEventsPaginatedResult]:
        """Who did what, the newest first."""
        query = {"type": type, "entity_id": entity_id, "from": from_, "to": to, "limit": limit}
        return Listing(self._transport, "/audit-events", AuditEventsPaginatedResult, query)

    @operation("getDatastore")
    def datastore(
        self, *, prefix: str | None = None, limit: int | None = None
    ) -> Listing[DatastoreEntry, DatastorePaginatedResult]:
        """What runs keep by `svc.datastore`, by key."""
        return Listing(self._transport, "/datastore", DatastorePaginatedResult, {"prefix": prefix, "limit": limit})
