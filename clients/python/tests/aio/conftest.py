"""Clients of the system."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator

import pytest
from cutting_proxy import CuttingProxy
from systems import System

from process_automation import AsyncClient


@pytest.fixture
async def pas() -> AsyncGenerator[AsyncClient]:
    """A client, by the environment."""
    async with AsyncClient() as client:
        yield client


@pytest.fixture
async def cut_pas(system: System, proxy: CuttingProxy) -> AsyncGenerator[AsyncClient]:
    """A client that comes to the system by way of the proxy."""
    there = system.behind(proxy)
    async with AsyncClient(there.host, there.team, there.api_token) as client:
        yield client


@pytest.fixture
def name() -> str:
    """One that no other test uses."""
    return f"python-{uuid.uuid4().hex[:12]}"
