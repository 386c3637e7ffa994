"""Sandboxes whose maker leaves before they run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx2
import pytest

from process_automation import AsyncClient

AT = "2026-01-31T12:00:00.000Z"
RECORD = {
    **{"id": "box", "name": "box", "status": "PENDING", "grpcServerUrl": "", "grpcApiKey": "", "imageId": "base"},
    **{"publicHttpPorts": [], "publicUrls": {}, "metadata": {}, "timeoutAt": AT, "createdBy": "me", "createdAt": AT},
}


class Service:
    """One whose sandbox is made once it `may_make` it, and never runs."""

    def __init__(self) -> None:
        self.is_asked, self.is_looked_at, self.may_make = anyio.Event(), anyio.Event(), anyio.Event()
        self.calls: list[str] = []

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path.removeprefix("/api/demo/rest")
        if request.method == "GET":
            self.is_looked_at.set()
        else:
            self.calls.append(path)
        if path == "/sandboxes":
            self.is_asked.set()
            await self.may_make.wait()
        return httpx2.Response(200, json=RECORD)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[AsyncClient]:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(self.answer)) as http:
            yield AsyncClient("http://pas", "demo", "eyJh.eyJl.c2ln", http_client=http)


@pytest.mark.anyio
@pytest.mark.parametrize(("is_made", "times"), [(False, 1), (True, 1), (False, 2)])
async def test_a_sandbox_whose_task_is_cancelled_is_ended(is_made: bool, times: int) -> None:
    service = Service()
    async with service.client() as pas:
        making = asyncio.create_task(pas.sandboxes.create())
        await service.is_asked.wait()
        if is_made:
            service.may_make.set()
            await service.is_looked_at.wait()
        for _ in range(times):
            making.cancel()
            await anyio.wait_all_tasks_blocked()
        service.may_make.set()
        with pytest.raises(asyncio.CancelledError):
            await making
    assert service.calls == ["/sandboxes", "/sandboxes/box/kill"]


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@pytest.mark.parametrize("is_made", [False, True])
async def test_a_sandbox_whose_scope_is_cancelled_is_ended(is_made: bool) -> None:
    service = Service()
    async with service.client() as pas, anyio.create_task_group() as outer, anyio.create_task_group() as makers:
        makers.start_soon(pas.sandboxes.create)
        await service.is_asked.wait()
        if is_made:
            service.may_make.set()
            await service.is_looked_at.wait()
        makers.cancel_scope.cancel()
        outer.start_soon(later, service.may_make)
    assert service.calls == ["/sandboxes", "/sandboxes/box/kill"]


async def later(event: anyio.Event) -> None:
    await anyio.wait_all_tasks_blocked()
    event.set()
