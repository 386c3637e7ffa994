"""The client of a team."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import httpx2

from .._settings import read_settings
from .._wire import json_bytes
from .primitives import HttpClient, open_http
from .resources.auth import Auth
from .resources.dependencies import Dependencies
from .resources.events import Events
from .resources.executions import Executions
from .resources.forms import Forms
from .resources.modules import Modules
from .resources.processes import Processes
from .resources.sandboxes import Sandboxes
from .resources.schedules import Schedules
from .resources.sources import Sources
from .resources.storage import Storage
from .resources.team import TeamResource
from .resources.variables import Variables
from .resources.webhooks import Webhooks
from .transport import Transport


class AsyncClient:
    """
    The resources of one team. Close it, or use it in a `with` block; one client serves a whole program, also many calls
    at a time.

    `url`, `team` and `token` come from PAS_URL, PAS_TEAM and PAS_TOKEN where they are not given. `token` is an API token,
    which is exchanged for access tokens, or an access token. `request_timeout` is the longest silence of the service in
    seconds, `max_retries` how often a call is made again that can't do anything twice. `header_prefix` is the service's
    setting of that name. `http_client` is one of httpx2, with proxies or certificates of your own.
    """

    def __init__(
        self,
        url: str | None = None,
        team: str | None = None,
        token: str | None = None,
        *,
        request_timeout: float = 60.0,
        max_retries: int = 2,
        header_prefix: str = "Svc-",
        headers: Mapping[str, str] | None = None,
        user_agent: str | None = None,
        http_client: HttpClient | None = None,
    ) -> None:
        settings = read_settings(
            url,
            team,
            token,
            request_timeout=request_timeout,
            max_retries=max_retries,
            header_prefix=header_prefix,
            headers=headers,
            user_agent=user_agent,
        )
        self._http = http_client or open_http()
        self._owns_http = http_client is None
        self._transport = Transport(settings, self._http)
        self.processes = Processes(self._transport)
        self.executions = Executions(self._transport)
        self.webhooks = Webhooks(self._transport)
        self.forms = Forms(self._transport)
        self.schedules = Schedules(self._transport)
        self.sources = Sources(self._transport)
        self.modules = Modules(self._transport)
        self.dependencies = Dependencies(self._transport)
        self.variables = Variables(self._transport)
        self.storage = Storage(self._transport)
        self.sandboxes = Sandboxes(self._transport)
        self.events = Events(self._transport)
        self.team = TeamResource(self._transport)
        self.auth = Auth(self._transport)

    def __repr__(self) -> str:
        settings = self._transport.settings
        return f"{type(self).__name__}({settings.url!r}, {settings.team!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes its connections."""
        if self._owns_http:
            await self._http.aclose()

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        json: Any = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> httpx2.Response:
        """A call that has no method here, with the token and the retries of all; `path` is below `/api/{team}/rest`."""
        if not path.startswith("/"):
            raise ValueError(f"{path!r} does not begin with a slash")
        body = None if json is None else json_bytes(json)
        return await self._transport.send(self._transport.call(method, path, query=query, json=body, headers=headers))
