"""Requests to the service: tokens, retries, what every call has in common."""

from __future__ import annotations

import math
import random
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx2

from .._answers import error_of, json_of, record_of
from .._retries import delay_after_cut, delay_after_refusal, is_rejection, is_repeatable, new_idempotency_key, says_done
from .._settings import Settings
from .._wire import query_of
from ..errors import ApiError, ConnectionError, TooManyRequests
from .primitives import HttpClient, Source, chunks_of, sleep
from .tokens import Tokens

T = TypeVar("T")

#: Nothing was sent when one of these came.
NOT_CONNECTED = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
#: Beside those of success: another protocol follows; nothing has changed.
NO_REFUSALS = frozenset({101, 304})


@dataclass
class Call:
    """A request that can be sent several times, unless its body can be read only once."""

    method: str
    url: str
    query: dict[str, str | list[str]] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: Source | None = None
    #: Whether it changes nothing more when it is done again, which the method does not say.
    is_repeatable: bool = False
    #: Whether the client has made its Idempotency-Key.
    has_own_key: bool = False
    #: Seconds without a byte, other than those of the client.
    timeout: float | None = None
    #: When nobody waits for it any more, by the monotonic clock.
    ends_at: float = math.inf
    with_token: bool = True
    #: Whether 3xx is an answer, too.
    takes_redirection: bool = False

    @property
    def name(self) -> str:
        """For messages: without the query, which may have a secret."""
        return f"{self.method} {self.url.partition('?')[0]}"

    def give_key(self, key: str | None) -> None:
        """Gives a start the key by which it is known, which may be among the headers; without one, one of its own."""
        among = [name for name in self.headers if name.lower() == "idempotency-key"]
        given = key or next((self.headers[name] for name in among), None)
        self.headers = {name: value for name, value in self.headers.items() if name not in among}
        self.has_own_key = given is None
        self.headers["Idempotency-Key"] = given or new_idempotency_key()

    @property
    def can_be_sent_again(self) -> bool:
        return self.body is None or isinstance(self.body, bytes | Path)


class Transport:
    """One connection pool, with what every request needs."""

    def __init__(self, settings: Settings, http: HttpClient) -> None:
        self.settings = settings
        self.http = http
        self.tokens = Tokens(settings, self._exchange)

    async def send(self, call: Call, *, stream: bool = False) -> httpx2.Response:
        """An answer that is no refusal; the caller closes one that is a stream. Raises ApiError and ConnectionError."""
        attempt = 0
        is_refreshed = False
        # Whether an attempt may have done what is asked, though its answer was lost.
        may_be_done = False
        while True:
            token = await self.tokens.current() if call.with_token else None
            outcome = await self._try(call, token, stream)
            if isinstance(outcome, httpx2.Response):
                return outcome
            if self._may_refresh(call, outcome, is_refreshed):
                is_refreshed = True
                self.tokens.forget(token)
                continue
            if may_be_done and isinstance(outcome, ApiError) and says_done(call.method, outcome):
                return httpx2.Response(204)
            delay = self._delay(call, outcome, attempt)
            if delay is None or time.monotonic() + delay >= call.ends_at:
                raise outcome
            if is_rejection(outcome):
                call.headers["Idempotency-Key"] = new_idempotency_key()
            attempt += 1
            may_be_done |= not isinstance(outcome, TooManyRequests) and not isinstance(outcome.__cause__, NOT_CONNECTED)
            await sleep(delay)

    async def _try(self, call: Call, token: str | None, stream: bool) -> httpx2.Response | ApiError | ConnectionError:
        try:
            response = await self.http.send(self._request(call, token), stream=stream)
            is_taken = call.takes_redirection and response.is_redirect
            if response.is_success or is_taken or response.status_code in NO_REFUSALS:
                return response
            try:
                await response.aread()
            finally:
                await response.aclose()
            return error_of(response)
        except httpx2.TransportError as error:
            failure = ConnectionError(f"{call.name}: {str(error) or type(error).__name__}")
            failure.__cause__ = error
            return failure

    def _request(self, call: Call, token: str | None) -> httpx2.Request:
        headers = {**self.settings.headers, **call.headers}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        limit = call.timeout or self.settings.request_timeout
        # A limit of 0 would be none.
        limit = min(limit, max(call.ends_at - time.monotonic(), 0.001))
        timeout = httpx2.Timeout(limit, connect=min(limit, self.settings.request_timeout))
        content: Any = call.body
        if content is not None and not isinstance(content, bytes):
            content = chunks_of(content)
        return self.http.build_request(
            call.method,
            call.url,
            params=call.query or None,
            # Names of people and comments are of any script; the service reads UTF-8.
            headers=httpx2.Headers(headers, encoding="utf-8"),
            content=content,
            timeout=timeout,
        )

    def _may_refresh(self, call: Call, outcome: ApiError | ConnectionError, is_refreshed: bool) -> bool:
        is_refused = isinstance(outcome, ApiError) and outcome.status == 401
        return is_refused and not is_refreshed and call.with_token and call.can_be_sent_again and self.tokens.can_renew

    def _delay(self, call: Call, outcome: ApiError | ConnectionError, attempt: int) -> float | None:
        """Seconds until the next attempt; None where there is none."""
        if attempt >= self.settings.max_retries or not call.can_be_sent_again:
            return None
        if is_rejection(outcome) and not call.has_own_key:
            return None
        may_be_repeated = call.is_repeatable or is_repeatable(call.method, call.headers)
        if not may_be_repeated and not isinstance(outcome.__cause__, NOT_CONNECTED):
            return None
        if isinstance(outcome, ApiError):
            return delay_after_refusal(outcome, attempt, random.random())
        return delay_after_cut(attempt, random.random())

    async def _exchange(self, api_token: str) -> httpx2.Response:
        call = Call("POST", f"{self.settings.rest}/auth/token", headers={"x-api-token": api_token}, with_token=False)
        # A token more does no harm.
        call.is_repeatable = True
        return await self.send(call)

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        json: bytes | None = None,
        timeout: float | None = None,
    ) -> Call:
        """A call below `/api/{team}/rest`, or of a whole address. Headers that are None are left out."""
        url = path if path.startswith("http") else f"{self.settings.rest}{path}"
        given = {name: value for name, value in (headers or {}).items() if value is not None}
        if json is not None:
            given["Content-Type"] = "application/json"
        return Call(method, url, query_of(query or {}), given, json, timeout=timeout)

    async def record(self, kind: type[T], method: str, path: str, **options: Any) -> T:
        """The answer as a record of this type. Options are those of `call`."""
        return record_of(await self.send(self.call(method, path, **options)), kind)

    async def json(self, method: str, path: str, **options: Any) -> Any:
        """The answer as plain values; None where it is empty."""
        return json_of(await self.send(self.call(method, path, **options)))

    async def chunks(self, call: Call) -> AsyncGenerator[bytes]:
        """A body as it comes. Raises ConnectionError where it is cut."""
        response = await self.send(call, stream=True)
        try:
            async for chunk in response.aiter_bytes():
                yield chunk
        except httpx2.TransportError as error:
            raise ConnectionError(f"{call.name}: {str(error) or type(error).__name__}") from error
        finally:
            await response.aclose()
