"""Published versions of processes."""

from __future__ import annotations

from typing import Unpack

from ..._operations import operation
from ..._settings import segment
from ...inputs import PublishProcessInput
from ...models import ListedVersionedProcess, VersionedProcess, VersionedProcessesPaginatedResult
from ..pages import Listing
from ..resource import Resource, body_of


class ProcessVersions(Resource):
    """A version is named by its id or its tag."""

    @operation("getProcessesByIdentifierVersions")
    def list(
        self, identifier: str, *, limit: int | None = None
    ) -> Listing[ListedVersionedProcess, VersionedProcessesPaginatedResult]:
        """Its versions, the newest first."""
        return Listing(self._transport, _path_of(identifier), VersionedProcessesPaginatedResult, {"limit": limit})

    @operation("postProcessesByIdentifierVersions")
    async def create(self, identifier: str, **version: Unpack[PublishProcessInput]) -> VersionedProcess:
        """Publishes its current state under a tag, or with another source."""
        body = body_of(PublishProcessInput, version)
        return await self._transport.record(VersionedProcess, "POST", _path_of(identifier), json=body)

    @operation("getProcessesByIdentifierVersionsByVersionId")
    async def get(self, identifier: str, version: str) -> VersionedProcess:
        """A version with its source."""
        return await self._transport.record(VersionedProcess, "GET", f"{_path_of(identifier)}/{segment(version)}")

    @operation("deleteProcessesByIdentifierVersionsByVersionId")
    async def delete(self, identifier: str, version: str) -> None:
        """Raises BadRequest with the code `version_in_use` where something names it."""
        await self._transport.json("DELETE", f"{_path_of(identifier)}/{segment(version)}")


def _path_of(identifier: str) -> str:
    return f"/processes/{segment(identifier)}/versions"
