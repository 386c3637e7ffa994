"""The packages of a team."""

from __future__ import annotations

from collections.abc import Mapping

from ..._answers import record_of
from ..._operations import operation
from ..._settings import segment
from ...inputs import RollbackInput, UpdateTeamDependenciesInput
from ...models import (
    DependencyInstall,
    DependencyInstallDiff,
    DependencyInstallLogsPaginatedResult,
    DependencyInstallsPaginatedResult,
    ExecutionLog,
    ProgrammingLanguageManifest,
)
from ...words import ProgrammingLanguage
from ..pages import Listing
from ..resource import Resource, body_of


class Dependencies(Resource):
    """Packages belong to a language: JAVASCRIPT or PYTHON."""

    @operation("getDependenciesByLanguage")
    async def get(self, language: ProgrammingLanguage) -> ProgrammingLanguageManifest:
        """What is installed, and what is staged."""
        return await self._transport.record(ProgrammingLanguageManifest, "GET", _path_of(language))

    @operation("putDependenciesByLanguage")
    async def update(
        self, language: ProgrammingLanguage, dependencies: Mapping[str, str]
    ) -> ProgrammingLanguageManifest:
        """Stages the full list: names with their versions or ranges. `install` installs it."""
        body = body_of(UpdateTeamDependenciesInput, {"dependencies": dependencies})
        return await self._transport.record(ProgrammingLanguageManifest, "PUT", _path_of(language), json=body)

    @operation("postDependenciesByLanguageInstall")
    async def install(self, language: ProgrammingLanguage) -> None:
        """Begins to install what is staged; `get` tells what becomes of it."""
        await self._transport.json("POST", f"{_path_of(language)}/install")

    @operation("deleteDependenciesByLanguageInstall")
    async def discard(self, language: ProgrammingLanguage) -> ProgrammingLanguageManifest:
        """Drops what is staged."""
        answer = await self._transport.send(self._transport.call("DELETE", f"{_path_of(language)}/install"))
        # Empty where an attempt before has done it, whose answer was lost.
        return record_of(answer, ProgrammingLanguageManifest) if answer.content else await self.get(language)

    @operation("getDependenciesByLanguageInstalls")
    def installs(
        self, language: ProgrammingLanguage, *, limit: int | None = None
    ) -> Listing[DependencyInstall, DependencyInstallsPaginatedResult]:
        """Installs, the newest first."""
        path = f"{_path_of(language)}/installs"
        return Listing(self._transport, path, DependencyInstallsPaginatedResult, {"limit": limit})

    @operation("getDependenciesByLanguageInstallsByIdLogs")
    def install_logs(
        self, language: ProgrammingLanguage, install_id: str, *, limit: int | None = None
    ) -> Listing[ExecutionLog, DependencyInstallLogsPaginatedResult]:
        """What an install has said."""
        path = f"{_path_of(language)}/installs/{segment(install_id)}/logs"
        return Listing(self._transport, path, DependencyInstallLogsPaginatedResult, {"limit": limit})

    @operation("getDependenciesByLanguageInstallsByIdDiff")
    async def diff(self, language: ProgrammingLanguage, install_id: str, to: str) -> DependencyInstallDiff:
        """What another install has that this one has not, and the reverse."""
        path = f"{_path_of(language)}/installs/{segment(install_id)}/diff"
        return await self._transport.record(DependencyInstallDiff, "GET", path, query={"to": to})

    @operation("postDependenciesByLanguageRollback")
    async def rollback(self, language: ProgrammingLanguage, install_id: str) -> ProgrammingLanguageManifest:
        """Makes an install of before the one that runs see."""
        body = body_of(RollbackInput, {"install_id": install_id})
        path = f"{_path_of(language)}/rollback"
        return await self._transport.record(ProgrammingLanguageManifest, "POST", path, json=body)


def _path_of(language: str) -> str:
    return f"/dependencies/{segment(language)}"
