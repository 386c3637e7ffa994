"""Webhooks of processes."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Unpack

import httpx2

from ..._answers import execution_id_of
from ..._operations import operation
from ..._settings import segment
from ..._wire import json_bytes, words_of
from ...errors import UnexpectedAnswer
from ...inputs import SendWebhookInput
from ...models import SentWebhook, WebhookDelivery
from ..resource import Resource, body_of
from ..run import Run
from ..transport import Call
from .starts import sync_silence


class Webhooks(Resource):
    """The webhook of a process is named by its slug or id. Calls of it need no token, but its own credentials."""

    def url(self, process: str) -> str:
        """Its address."""
        return f"{self._transport.settings.below_team}/webhooks/{segment(process)}"

    @operation("getWebhook", "postWebhook")
    async def call(
        self,
        process: str,
        json: Any = None,
        *,
        content: bytes | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        auth: tuple[str, str] | None = None,
        tag: str | None = None,
        idempotency_key: str | None = None,
    ) -> httpx2.Response:
        """
        Calls it and gives the answer as the process made it: by POST with `json` or `content`, else by GET with the
        query. One call starts one run, however often it is repeated. An answer of 400 and above is an ApiError, which has
        what the process answered as `text`, and JSON of it as `problem`.
        """
        call = self._call(process, json, content, query, headers, auth, tag, idempotency_key)
        call.takes_redirection = True
        return await self._transport.send(call)

    async def start(
        self,
        process: str,
        json: Any = None,
        *,
        content: bytes | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        auth: tuple[str, str] | None = None,
        tag: str | None = None,
        idempotency_key: str | None = None,
    ) -> Run:
        """Calls it without waiting for the process."""
        call = self._call(process, json, content, query, headers, auth, tag, idempotency_key)
        call.query["async"] = "true"
        response = await self._transport.send(call)
        id = execution_id_of(response.headers)
        if id is None:
            raise UnexpectedAnswer(f"The answer of the webhook of {process} names no execution")
        return Run(self._transport, id)

    @operation("postProcessesByIdentifierWebhookSend")
    async def send(self, process: str, **request: Unpack[SendWebhookInput]) -> SentWebhook:
        """Has the service send a request to it, signed where wanted, and gives both."""
        path = f"/processes/{segment(process)}/webhook/send"
        return await self._transport.record(SentWebhook, "POST", path, json=body_of(SendWebhookInput, request))

    @operation("getProcessesByIdentifierWebhookDeliveries")
    async def deliveries(self, process: str) -> tuple[WebhookDelivery, ...]:
        """Its last 100 calls, refused ones included."""
        path = f"/processes/{segment(process)}/webhook/deliveries"
        return await self._transport.record(tuple[WebhookDelivery, ...], "GET", path)

    def _call(
        self,
        process: str,
        json: Any,
        content: bytes | None,
        query: Mapping[str, Any] | None,
        headers: Mapping[str, str | None] | None,
        auth: tuple[str, str] | None,
        tag: str | None,
        idempotency_key: str | None,
    ) -> Call:
        body = None if json is None else json_bytes(json)
        method = "GET" if body is None and content is None else "POST"
        options = {self._prefixed("Version-Tag"): tag}
        call = self._transport.call(method, self.url(process), json=body, headers={**options, **(headers or {})})
        call.give_key(idempotency_key)
        call.query = words_of(query or {})
        call.with_token = False
        call.timeout = sync_silence(self._transport)
        if content is not None:
            call.body = content
        if auth is not None:
            call.headers["Authorization"] = "Basic " + base64.b64encode(":".join(auth).encode()).decode()
        return call
