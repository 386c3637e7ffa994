"""Code that processes import."""

from __future__ import annotations

from typing import Unpack

from ..._operations import operation
from ..._settings import segment
from ...inputs import CreateModuleInput, UpdateModuleInput
from ...models import (
    ListedModule,
    Module,
    ModulesPaginatedResult,
    ModuleUsersPaginatedResult,
    SourceUser,
    VersionedModule,
    VersionedModuleAlias,
    VersionedModuleAliasesPaginatedResult,
    VersionedModulesPaginatedResult,
)
from ..pages import Listing
from ..resource import Resource, body_of
from ..transport import Transport
from .aliases import Aliases
from .versions import ModuleVersions


class Modules(Resource):
    """A module is named by its id."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.versions = ModuleVersions(transport, "/modules", VersionedModule, VersionedModulesPaginatedResult)
        self.aliases = Aliases(transport, "/modules", VersionedModuleAlias, VersionedModuleAliasesPaginatedResult)

    @operation("getModules")
    def list(self, *, limit: int | None = None) -> Listing[ListedModule, ModulesPaginatedResult]:
        """All modules."""
        return Listing(self._transport, "/modules", ModulesPaginatedResult, {"limit": limit})

    @operation("postModules")
    async def create(self, **module: Unpack[CreateModuleInput]) -> Module:
        """Makes a module. `warnings` of the answer tell of faults in its source."""
        return await self._transport.record(Module, "POST", "/modules", json=body_of(CreateModuleInput, module))

    @operation("getModulesById")
    async def get(self, id: str) -> Module:
        """A module with its source."""
        return await self._transport.record(Module, "GET", _path_of(id))

    @operation("patchModulesById")
    async def update(self, id: str, *, if_match: str | None = None, **changes: Unpack[UpdateModuleInput]) -> Module:
        """Changes what is given; with `if_match` only what was not changed meanwhile."""
        body = body_of(UpdateModuleInput, changes)
        headers = {"If-Match": if_match}
        return await self._transport.record(Module, "PATCH", _path_of(id), json=body, headers=headers)

    @operation("deleteModulesById")
    async def delete(self, id: str, *, if_match: str | None = None) -> None:
        """Deletes it with its versions."""
        await self._transport.json("DELETE", _path_of(id), headers={"If-Match": if_match})

    @operation("getModulesByIdUsers")
    def users(self, id: str, *, limit: int | None = None) -> Listing[SourceUser, ModuleUsersPaginatedResult]:
        """The processes and modules that import it."""
        return Listing(self._transport, f"{_path_of(id)}/users", ModuleUsersPaginatedResult, {"limit": limit})


def _path_of(id: str) -> str:
    return f"/modules/{segment(id)}"
