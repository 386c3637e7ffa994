"""The access token of a client: exchanged for an API token, and again before it expires."""

from __future__ import annotations

import time
from typing import Protocol

import httpx2

from .._answers import record_of
from .._settings import Settings
from ..errors import ProcessAutomationError
from ..models import Token
from .primitives import Lock

#: Seconds before its end from which a token is not used any more.
MARGIN = 30.0


class Exchange(Protocol):
    """Gets an access token for an API token."""

    async def __call__(self, api_token: str) -> httpx2.Response: ...


class Tokens:
    """Makes one exchange for all who ask at a time; where it fails, it fails for all of them."""

    def __init__(self, settings: Settings, exchange: Exchange) -> None:
        self._settings = settings
        self._exchange = exchange
        self._lock = Lock()
        self._token: str | None = None
        self._ends_at = 0.0
        #: Why the last exchange gave none.
        self._failure: ProcessAutomationError | None = None

    @property
    def can_renew(self) -> bool:
        return self._settings.has_api_token

    async def current(self) -> str:
        """The token to be sent. Raises ApiError where the API token is refused, ConnectionError where nobody answers."""
        if not self.can_renew:
            return self._settings.token
        failure = self._failure
        async with self._lock:
            if self._failure is not None and self._failure is not failure:
                raise self._failure
            if self._token is None or time.monotonic() >= self._ends_at:
                self._token = await self._renewed()
            return self._token

    async def _renewed(self) -> str:
        try:
            answer = record_of(await self._exchange(self._settings.token), Token)
        except ProcessAutomationError as failure:
            self._failure = failure
            raise
        self._failure = None
        # Of a token with a short life, half is used.
        self._ends_at = time.monotonic() + max(answer.expires_in - MARGIN, answer.expires_in / 2)
        return answer.access_token

    def forget(self, token: str | None) -> None:
        """The service has refused it."""
        if self._token == token:
            self._token = None
