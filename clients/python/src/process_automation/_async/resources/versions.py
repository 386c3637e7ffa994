"""Published versions, of processes and of modules."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, Unpack

from ..._operations import operation
from ..._settings import segment
from ...inputs import CreateVersionedModuleInput, PublishProcessInput
from ...models import (
    ListedVersionedModule,
    ListedVersionedProcess,
    VersionedModule,
    VersionedModulesPaginatedResult,
    VersionedProcess,
    VersionedProcessesPaginatedResult,
)
from ...records import Page
from ..pages import Listing
from ..resource import Resource, body_of
from ..transport import Transport

Listed = TypeVar("Listed")
Version = TypeVar("Version")
PageOf = TypeVar("PageOf", bound=Page[Any])


class Versions(Resource, Generic[Listed, Version, PageOf]):
    """A version is named by its owner, and its id or its tag."""

    def __init__(self, transport: Transport, owners: str, kind: type[Version], page: type[PageOf]) -> None:
        super().__init__(transport)
        self._owners = owners
        self._kind = kind
        self._page = page

    @operation("getProcessesByIdentifierVersions", "getModulesByModuleIdVersions")
    def list(self, owner: str, *, limit: int | None = None) -> Listing[Listed, PageOf]:
        """All versions, the newest first."""
        return Listing(self._transport, self._path(owner), self._page, {"limit": limit})

    @operation("getProcessesByIdentifierVersionsByVersionId", "getModulesByModuleIdVersionsByVersionId")
    async def get(self, owner: str, version: str) -> Version:
        """A version with its source."""
        return await self._transport.record(self._kind, "GET", f"{self._path(owner)}/{segment(version)}")

    @operation("deleteProcessesByIdentifierVersionsByVersionId", "deleteModulesByModuleIdVersionsByVersionId")
    async def delete(self, owner: str, version: str) -> None:
        """Raises BadRequest with the code `version_in_use` where something names it."""
        await self._transport.json("DELETE", f"{self._path(owner)}/{segment(version)}")

    def _path(self, owner: str) -> str:
        return f"{self._owners}/{segment(owner)}/versions"


class ProcessVersions(Versions[ListedVersionedProcess, VersionedProcess, VersionedProcessesPaginatedResult]):
    """Versions of processes."""

    @operation("postProcessesByIdentifierVersions")
    async def publish(self, owner: str, **version: Unpack[PublishProcessInput]) -> VersionedProcess:
        """Publishes its current state under a tag, or with what is given in place of it."""
        body = body_of(PublishProcessInput, version)
        return await self._transport.record(VersionedProcess, "POST", self._path(owner), json=body)


class ModuleVersions(Versions[ListedVersionedModule, VersionedModule, VersionedModulesPaginatedResult]):
    """Versions of modules."""

    @operation("postModulesByModuleIdVersions")
    async def publish(self, owner: str, **version: Unpack[CreateVersionedModuleInput]) -> VersionedModule:
        """Publishes its current source under a tag, or another source."""
        body = body_of(CreateVersionedModuleInput, version)
        return await self._transport.record(VersionedModule, "POST", self._path(owner), json=body)
