"""Names that lead to versions, of processes and of modules."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, Unpack

from ..._operations import operation
from ..._settings import segment
from ...inputs import VersionedProcessAliasInput
from ...records import Page
from ..pages import Listing
from ..resource import Resource, body_of
from ..transport import Transport

Alias = TypeVar("Alias")
PageOf = TypeVar("PageOf", bound=Page[Any])


class Aliases(Resource, Generic[Alias, PageOf]):
    """An alias is named by its owner and its id."""

    def __init__(self, transport: Transport, owners: str, kind: type[Alias], page: type[PageOf]) -> None:
        super().__init__(transport)
        self._owners = owners
        self._kind = kind
        self._page = page

    @operation("getProcessesByIdentifierAliases", "getModulesByModuleIdAliases")
    def list(self, owner: str, *, version_id: str | None = None, limit: int | None = None) -> Listing[Alias, PageOf]:
        """All aliases, or those of one version. `limit` is of a page, as in all lists."""
        query = {"version_id": version_id, "limit": limit}
        return Listing(self._transport, self._path(owner), self._page, query)

    @operation("getProcessesByIdentifierAliasesByAliasId", "getModulesByModuleIdAliasesByAliasId")
    async def get(self, owner: str, alias_id: str) -> Alias:
        """One alias."""
        return await self._transport.record(self._kind, "GET", f"{self._path(owner)}/{segment(alias_id)}")

    @operation("postProcessesByIdentifierAliases", "postModulesByModuleIdAliases")
    async def create(self, owner: str, *, name: str, version_id: str) -> Alias:
        """Makes an alias of a version, which is named by its id or its tag."""
        body = body_of(VersionedProcessAliasInput, {"name": name, "version_id": version_id})
        return await self._transport.record(self._kind, "POST", self._path(owner), json=body)

    @operation("patchProcessesByIdentifierAliasesByAliasId", "patchModulesByModuleIdAliasesByAliasId")
    async def update(
        self, owner: str, alias_id: str, *, if_match: str | None = None, **changes: Unpack[VersionedProcessAliasInput]
    ) -> Alias:
        """Leads it to another version, or gives it another name."""
        return await self._transport.record(
            self._kind,
            "PATCH",
            f"{self._path(owner)}/{segment(alias_id)}",
            json=body_of(VersionedProcessAliasInput, changes),
            headers={"If-Match": if_match},
        )

    @operation("deleteProcessesByIdentifierAliasesByAliasId", "deleteModulesByModuleIdAliasesByAliasId")
    async def delete(self, owner: str, alias_id: str, *, if_match: str | None = None) -> None:
        """Raises BadRequest with the code `alias_in_use` where something names it."""
        path = f"{self._path(owner)}/{segment(alias_id)}"
        await self._transport.json("DELETE", path, headers={"If-Match": if_match})

    def _path(self, owner: str) -> str:
        return f"{self._owners}/{segment(owner)}/aliases"
