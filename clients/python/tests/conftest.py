"""The system that the tests speak to: the one that the environment names, or one that is started for them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from cutting_proxy import CuttingProxy
from systems import StartedSystem, System


@pytest.fixture(scope="session")
def system() -> Iterator[System]:
    """One for all tests that do not end it."""
    address = os.environ.get("E2E_BASE_URL")
    if address:
        yield System(address.rstrip("/"), os.environ.get("E2E_TEAM", "demo"), os.environ["E2E_API_TOKEN"])
        return
    started = StartedSystem()
    yield started.system
    started.stop()


@pytest.fixture(autouse=True)
def environment(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a client takes from the environment."""
    monkeypatch.setenv("PAS_URL", system.host)
    monkeypatch.setenv("PAS_TEAM", system.team)
    monkeypatch.setenv("PAS_TOKEN", system.api_token)


@pytest.fixture
def proxy(system: System) -> Iterator[CuttingProxy]:
    """A way to the system that can be cut."""
    address = urlsplit(system.host)
    assert address.hostname
    assert address.port
    with CuttingProxy(address.hostname, address.port) as opened:
        yield opened


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
