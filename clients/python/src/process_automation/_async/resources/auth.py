"""Tokens, and the service accounts that have them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from urllib.parse import urlencode

from ..._answers import record_of
from ..._operations import operation
from ..._settings import segment
from ...inputs import CreateServiceAccountInput
from ...models import ApiTokenOwner, NewServiceAccount, ServiceAccount, ServiceAccountsPaginatedResult, Token
from ...words import Scope
from ..pages import Listing
from ..resource import Resource, body_of, given


class Auth(Resource):
    """Service accounts want a token with the scope `admin`."""

    @operation("getRunWhoami")
    async def whoami(self) -> ApiTokenOwner:
        """Whose API token the client has."""
        settings = self._transport.settings
        call = self._transport.call("GET", f"{settings.url}/run/whoami", headers={"x-api-token": settings.api_token})
        call.with_token = False
        return record_of(await self._transport.send(call), ApiTokenOwner)

    @operation("postAuthToken")
    async def token(self, client_id: str, client_secret: str, *, scopes: Sequence[Scope] = ()) -> Token:
        """An access token for a service account, with these scopes or all that it has (OAuth 2.0 client credentials)."""
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": client_secret}
        if scopes:
            form["scope"] = " ".join(scopes)
        call = self._transport.call("POST", "/auth/token")
        call.headers["Content-Type"] = "application/x-www-form-urlencoded"
        call.body = urlencode(form).encode()
        call.with_token = False
        return record_of(await self._transport.send(call), Token)

    @operation("getAuthServiceAccounts")
    def service_accounts(self, *, limit: int | None = None) -> Listing[ServiceAccount, ServiceAccountsPaginatedResult]:
        """All service accounts, without their secrets."""
        return Listing(self._transport, "/auth/service-accounts", ServiceAccountsPaginatedResult, {"limit": limit})

    @operation("postAuthServiceAccounts")
    async def create_service_account(
        self, name: str, *, scopes: Sequence[Scope] | None = None, expires_at: datetime | None = None
    ) -> NewServiceAccount:
        """Makes a service account. Its secret and its API token are in this answer alone."""
        scope_list = None if scopes is None else [*scopes]
        ends = None if expires_at is None else expires_at.isoformat()
        body = body_of(CreateServiceAccountInput, given(name=name, scopes=scope_list, expires_at=ends))
        return await self._transport.record(NewServiceAccount, "POST", "/auth/service-accounts", json=body)

    @operation("deleteAuthServiceAccountsById")
    async def delete_service_account(self, id: str) -> None:
        """Its API token can't be exchanged from then on."""
        await self._transport.json("DELETE", f"/auth/service-accounts/{segment(id)}")
