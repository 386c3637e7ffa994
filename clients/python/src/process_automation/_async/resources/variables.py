"""Values that the team's runs see."""

from __future__ import annotations

from typing import Unpack

from ..._operations import operation
from ..._settings import segment
from ...inputs import CreateTeamVariableInput, UpdateTeamVariableInput
from ...models import (
    ListedTeamVariable,
    SourceUser,
    TeamVariable,
    TeamVariablesPaginatedResult,
    VariableUsersPaginatedResult,
)
from ..pages import Listing
from ..resource import Resource, body_of


class Variables(Resource):
    """A variable is named by its id. Sensitive values are never shown again."""

    @operation("getVariables")
    def list(self, *, limit: int | None = None) -> Listing[ListedTeamVariable, TeamVariablesPaginatedResult]:
        """All variables of the team itself; its runs also see those of its parents."""
        return Listing(self._transport, "/variables", TeamVariablesPaginatedResult, {"limit": limit})

    @operation("postVariables")
    async def create(self, **variable: Unpack[CreateTeamVariableInput]) -> TeamVariable:
        """Makes a variable; with `is_sensitive` its value is kept sealed."""
        body = body_of(CreateTeamVariableInput, variable)
        return await self._transport.record(TeamVariable, "POST", "/variables", json=body)

    @operation("getVariablesById")
    async def get(self, id: str) -> TeamVariable:
        """One variable."""
        return await self._transport.record(TeamVariable, "GET", _path_of(id))

    @operation("patchVariablesById")
    async def update(
        self, id: str, *, if_match: str | None = None, **changes: Unpack[UpdateTeamVariableInput]
    ) -> TeamVariable:
        """Changes what is given; with `if_match` only what was not changed meanwhile."""
        body = body_of(UpdateTeamVariableInput, changes)
        headers = {"If-Match": if_match}
        return await self._transport.record(TeamVariable, "PATCH", _path_of(id), json=body, headers=headers)

    @operation("deleteVariablesById")
    async def delete(self, id: str, *, if_match: str | None = None) -> None:
        """Deletes it."""
        await self._transport.json("DELETE", _path_of(id), headers={"If-Match": if_match})

    @operation("getVariablesByIdUsers")
    def users(self, id: str, *, limit: int | None = None) -> Listing[SourceUser, VariableUsersPaginatedResult]:
        """The processes and modules whose source names it."""
        return Listing(self._transport, f"{_path_of(id)}/users", VariableUsersPaginatedResult, {"limit": limit})


def _path_of(id: str) -> str:
    return f"/variables/{segment(id)}"
