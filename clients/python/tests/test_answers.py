"""Answers that come in pieces, late or never."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Iterator
from types import SimpleNamespace

import anyio
import httpx2
import msgspec
import pytest

from process_automation import AsyncClient, Client, ConnectionError, RunError, WaitTimeout
from process_automation._sync import event_stream, transport
from process_automation._sync.resources import storage

ACCESS_TOKEN = "eyJh.eyJl.c2ln"
TOKEN = {"access_token": ACCESS_TOKEN, "expires_in": 3600, "token_type": "Bearer", "scope": "read"}

AT = "2026-01-31T12:00:00.000Z"
EXECUTION = {
    **{"id": "an-id", "processId": "p", "processName": "p", "processSlug": "p", "status": "RUNNING", "trial": False},
    **{"timeline": {"events": []}, "settings": {"timeout": 1000}, "createdBy": "me", "createdAt": AT, "updatedAt": AT},
}
END = b"event: end\ndata: {}\n\n"


def log_of(message: str) -> bytes:
    return f'id: {message}\nevent: log\ndata: {{"timestamp":"{AT}","level":"INFO","message":"{message}"}}\n\n'.encode()


def events_of(content: bytes | Iterator[bytes]) -> httpx2.Response:
    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=content)


def test_a_log_is_the_same_text_however_it_is_cut() -> None:
    content = "aé€😀".encode() + b"\xff" + "é".encode()[:1]
    for size in range(1, len(content) + 1):
        pieces = [content[at : at + size] for at in range(0, len(content), size)]
        service = httpx2.MockTransport(lambda _, pieces=pieces: httpx2.Response(200, content=iter(pieces)))
        with (
            httpx2.Client(transport=service) as http,
            Client("http://pas", "demo", ACCESS_TOKEN, http_client=http) as pas,
        ):
            assert "".join(pas.executions.log_text("an-id")) == content.decode(errors="replace")


@pytest.mark.parametrize("is_silent", [False, True])
@pytest.mark.parametrize(("max_retries", "least", "most"), [(0, 0, 0), (1, 20, 31), (2, 20, 31)])
def test_a_download_of_which_nothing_more_comes_is_given_up(
    max_retries: int, least: int, most: int, is_silent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    now = 0.0

    def wait(seconds: float) -> None:
        nonlocal now
        now += seconds

    def cut() -> Iterator[bytes]:
        yield b"some"
        raise httpx2.ReadError("cut")

    def service(request: httpx2.Request) -> httpx2.Response:
        nonlocal asked
        asked += 1
        if asked == 1:
            return httpx2.Response(200, headers={"etag": '"an-etag"'}, content=cut())
        if not is_silent:
            raise httpx2.ConnectError("away")
        wait(request.extensions["timeout"]["read"])
        raise httpx2.ReadTimeout("silent")

    for module in (storage, transport):
        monkeypatch.setattr(module, "sleep", wait)
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now), raising=False)
    with (
        httpx2.Client(transport=httpx2.MockTransport(service)) as http,
        Client("http://pas", "demo", ACCESS_TOKEN, http_client=http, max_retries=max_retries) as pas,
        pytest.raises(ConnectionError, match="a-file was cut after 4 bytes"),
    ):
        pas.storage.read("a-file")
    assert least <= now <= most


@pytest.mark.parametrize(("text", "value"), [(r'"\ud800"', "\ud800"), ("1e400", math.inf), ("9" * 5000, math.inf)])
def test_a_run_with_any_json_is_read_and_so_is_the_list_that_has_it(text: str, value: object) -> None:
    record = msgspec.json.encode({**EXECUTION, "status": "FINISHED", "returnValue": text}).decode()
    record = f'{{"parameters":{{"given":{text}}},{record.removeprefix("{")}'

    def service(request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith("/events"):
            return events_of(END)
        page = f'{{"data":[{record}],"hasNextPage":false,"page":0,"limit":100,"total":1}}'
        return httpx2.Response(200, text=page if request.url.path.endswith("/executions") else record)

    with (
        httpx2.Client(transport=httpx2.MockTransport(service)) as http,
        Client("http://pas", "demo", ACCESS_TOKEN, http_client=http) as pas,
    ):
        assert [execution.parameters for execution in pas.executions.list()] == [{"given": value}]
        assert pas.executions.run("an-id").result() == value


def test_a_run_that_fails_shows_the_end_of_its_log_however_long_that_is() -> None:
    lines = 0

    def service(request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith("/events"):
            return events_of(END)
        if not request.url.path.endswith("/logs"):
            return httpx2.Response(200, json={**EXECUTION, "status": "ERROR"})
        limit, page = (int(request.url.params.get(name, 0)) for name in ("limit", "page"))
        shown = range(page * limit, min(lines, (page + 1) * limit))
        data = [{"timestamp": AT, "level": "INFO", "message": str(line)} for line in shown]
        has_next = (page + 1) * limit < lines
        answer = {"data": data, "hasNextPage": has_next, "page": page, "limit": limit, "total": min(lines, 10_001)}
        return httpx2.Response(200, json=answer)

    with (
        httpx2.Client(transport=httpx2.MockTransport(service)) as http,
        Client("http://pas", "demo", ACCESS_TOKEN, http_client=http) as pas,
    ):
        for lines in (0, 7, 20, 21, 60, 10_000, 10_002, 13_005):
            with pytest.raises(RunError) as failure:
                pas.executions.run("an-id").result()
            assert failure.value.log_tail == [str(line) for line in range(max(lines - 20, 0), lines)]


def test_the_wait_for_a_result_ends_in_time_also_where_the_service_is_silent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        with Client(host, "demo", ACCESS_TOKEN) as pas, pytest.raises(WaitTimeout, match="not known to have ended"):
            pas.executions.run("an-id").result(timeout=0.5)
        assert time.monotonic() - began < 10


@pytest.mark.parametrize("part", [0.05, 0.5, 0.86])
def test_the_wait_for_a_result_ends_in_time_also_where_the_service_falls_silent(
    part: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)

    def line_and_silence(limit: float) -> Iterator[bytes]:
        nonlocal now
        now += limit * part
        yield log_of("line")
        now += limit
        raise httpx2.ReadTimeout("silent")

    def service(request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith("/events"):
            return events_of(line_and_silence(request.extensions["timeout"]["read"]))
        return httpx2.Response(200, json=EXECUTION)

    with (
        httpx2.Client(transport=httpx2.MockTransport(service)) as http,
        Client("http://pas", "demo", ACCESS_TOKEN, http_client=http) as pas,
        pytest.raises(WaitTimeout, match="goes on"),
    ):
        pas.executions.run("an-id").result(timeout=5)
    assert 1005 <= now < 1006


@pytest.mark.parametrize("timeout", [1, 5, 60, 600])
def test_the_wait_for_a_run_that_logs_opens_few_streams(timeout: int, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    opened = 0

    def wait(seconds: float) -> None:
        nonlocal now
        now += seconds

    def lines() -> Iterator[bytes]:
        while True:
            wait(0.05)
            yield log_of("line")

    def service(request: httpx2.Request) -> httpx2.Response:
        nonlocal opened
        if not request.url.path.endswith("/events"):
            return httpx2.Response(200, json=EXECUTION)
        opened += 1
        return events_of(lines())

    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(event_stream, "sleep", wait)
    with (
        httpx2.Client(transport=httpx2.MockTransport(service)) as http,
        Client("http://pas", "demo", ACCESS_TOKEN, http_client=http) as pas,
        pytest.raises(WaitTimeout, match="goes on"),
    ):
        pas.executions.run("an-id").result(timeout=timeout)
    assert opened <= 10
    assert 1000 + timeout <= now <= 1000 + timeout + 0.1


def test_a_log_goes_on_after_a_cut_while_all_streams_of_the_team_are_open() -> None:
    asked: list[str | None] = []

    def service(request: httpx2.Request) -> httpx2.Response:
        if not request.url.path.endswith("/events"):
            return httpx2.Response(200, json={**EXECUTION, "status": "FINISHED", "returnValue": "42"})
        asked.append(request.headers.get("last-event-id"))
        if len(asked) == 1:
            return events_of(log_of("first"))
        if len(asked) < 5:
            return httpx2.Response(429, json={"code": "too_many_streams"}, headers={"Retry-After": "0"})
        return events_of(log_of("second") + END)

    with (
        httpx2.Client(transport=httpx2.MockTransport(service)) as http,
        Client("http://pas", "demo", ACCESS_TOKEN, http_client=http) as pas,
    ):
        run = pas.executions.run("an-id")
        assert [entry.message for entry in run.logs()] == ["first", "second"]
        assert asked == [None, *["first"] * 4]
        # Who waits for the end alone needs no stream.
        asked.clear()
        assert run.result() == 42
        assert len(asked) == 4


@pytest.mark.anyio
async def test_an_exchange_of_the_token_that_fails_fails_for_all_who_waited_for_it() -> None:
    exchanges = 0
    is_over = anyio.Event()

    async def service(request: httpx2.Request) -> httpx2.Response:
        nonlocal exchanges
        if not request.url.path.endswith("/auth/token"):
            return httpx2.Response(200, json=[])
        exchanges += 1
        await is_over.wait()
        if exchanges > 1:
            return httpx2.Response(200, json=TOKEN)
        raise httpx2.ReadTimeout("silent", request=request)

    failures: list[ConnectionError] = []
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(service)) as http:
        pas = AsyncClient("http://pas", "demo", "sk-secret", http_client=http, max_retries=0)

        async def call() -> None:
            try:
                await pas.storage.uploads()
            except ConnectionError as error:
                failures.append(error)

        async with anyio.create_task_group() as calls:
            for _ in range(3):
                calls.start_soon(call)
            await anyio.wait_all_tasks_blocked()
            is_over.set()
        assert (exchanges, len(failures)) == (1, 3)
        await pas.storage.uploads()
        assert exchanges == 2
