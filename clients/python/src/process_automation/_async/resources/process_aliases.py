"""Names that lead to versions of processes."""

from __future__ import annotations

from typing import Unpack

from ..._operations import operation
from ..._settings import segment
from ...inputs import VersionedProcessAliasInput
from ...models import VersionedProcessAlias, VersionedProcessAliasesPaginatedResult
from ..pages import Listing
from ..resource import Resource, body_of


class ProcessAliases(Resource):
    """An alias is named by its id."""

    @operation("getProcessesByIdentifierAliases")
    def list(
        self, identifier: str, *, version_id: str | None = None, limit: int | None = None
    ) -> Listing[VersionedProcessAlias, VersionedProcessAliasesPaginatedResult]:
        """Its aliases, or those of one version."""
        query = {"version_id": version_id, "limit": limit}
        return Listing(self._transport, _path_of(identifier), VersionedProcessAliasesPaginatedResult, query)

    @operation("postProcessesByIdentifierAliases")
    async def create(self, identifier: str, *, name: str, version_id: str) -> VersionedProcessAlias:
        """Makes an alias of a version, which is named by its id or its tag."""
        body = body_of(VersionedProcessAliasInput, {"name": name, "version_id": version_id})
        return await self._transport.record(VersionedProcessAlias, "POST", _path_of(identifier), json=body)

    @operation("getProcessesByIdentifierAliasesByAliasId")
    async def get(self, identifier: str, alias_id: str) -> VersionedProcessAlias:
        """One alias."""
        return await self._transport.record(VersionedProcessAlias, "GET", f"{_path_of(identifier)}/{segment(alias_id)}")

    @operation("patchProcessesByIdentifierAliasesByAliasId")
    async def update(
        self,
        identifier: str,
        alias_id: str,
        *,
        if_match: str | None = None,
        **changes: Unpack[VersionedProcessAliasInput],
    ) -> VersionedProcessAlias:
        """Leads it to another version, or gives it another name."""
        return await self._transport.record(
            VersionedProcessAlias,
            "PATCH",
            f"{_path_of(identifier)}/{segment(alias_id)}",
            json=body_of(VersionedProcessAliasInput, changes),
            headers={"If-Match": if_match},
        )

    @operation("deleteProcessesByIdentifierAliasesByAliasId")
    async def delete(self, identifier: str, alias_id: str, *, if_match: str | None = None) -> None:
        """Raises BadRequest with the code `alias_in_use` where something names it."""
        path = f"{_path_of(identifier)}/{segment(alias_id)}"
        await self._transport.json("DELETE", path, headers={"If-Match": if_match})


def _path_of(identifier: str) -> str:
    return f"/processes/{segment(identifier)}/aliases"
