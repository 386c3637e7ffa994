"""Forms of processes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._answers import json_of, record_of
from ..._operations import operation
from ..._settings import segment
from ...models import ExecutionId, Form
from ..resource import Resource, body_of
from ..run import Run
from ..transport import Call
from .starts import sync_silence


class Forms(Resource):
    """The form of a process is named by its slug or id. `form_token` is that of its link, in place of the client's."""

    @operation("getFormsBySlug")
    async def get(self, slug: str, *, form_token: str | None = None) -> Form:
        """What it asks for."""
        return record_of(await self._transport.send(self._call("GET", slug, form_token)), Form)

    @operation("postFormsBySlug")
    async def submit(
        self,
        slug: str,
        values: Mapping[str, Any],
        *,
        form_token: str | None = None,
        idempotency_key: str | None = None,
    ) -> Run:
        """Starts a run with these values. With a link's token alone the run can't be read."""
        call = self._submission(slug, values, form_token, idempotency_key)
        return Run(self._transport, record_of(await self._transport.send(call), ExecutionId).execution_id)

    async def submit_sync(
        self,
        slug: str,
        values: Mapping[str, Any],
        *,
        form_token: str | None = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Starts a run with these values and gives what it has returned, as `execute_sync` does."""
        call = self._submission(slug, values, form_token, idempotency_key)
        call.query["wait"] = "true"
        call.timeout = sync_silence(self._transport)
        return json_of(await self._transport.send(call))

    def _submission(self, slug: str, values: Mapping[str, Any], form_token: str | None, key: str | None) -> Call:
        call = self._call("POST", slug, form_token, body_of(None, values))
        call.give_key(key)
        return call

    def _call(self, method: str, slug: str, form_token: str | None, json: bytes | None = None) -> Call:
        address = f"{self._transport.settings.below_team}/forms/{segment(slug)}"
        call = self._transport.call(method, address, query={"token": form_token}, json=json)
        call.with_token = form_token is None
        return call
