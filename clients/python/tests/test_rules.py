"""Rules without a service."""

from __future__ import annotations

from contextlib import nullcontext

import httpx2
import msgspec
import pytest

from process_automation import Client
from process_automation._answers import error_of, read_json
from process_automation._settings import segment
from process_automation._sync.sandbox.files import Files
from process_automation._wire import camel, json_bytes, query_of, to_wire, words_of
from process_automation.commands import CommandLines, CommandOutput
from process_automation.errors import NotFound, SandboxError, TooManyRequests, UnexpectedAnswer
from process_automation.inputs import CreateProcessInput, ScheduledProcessInput


def test_names_go_to_the_wire_in_known_dictionaries_alone() -> None:
    given = {
        "source_code": "return 1",
        "parameters_schema": {"some_name": 1},
        "settings": {"forms_config": {"enabled": True}},
    }
    assert to_wire(CreateProcessInput, given) == {
        "sourceCode": "return 1",
        "parametersSchema": {"some_name": 1},
        "settings": {"formsConfig": {"enabled": True}},
    }
    nested = {"input": {"parameters": {"some_name": None}, "settings": {"agent_pool_slug": "fast"}}}
    assert to_wire(ScheduledProcessInput, nested)["input"]["settings"] == {"agentPoolSlug": "fast"}
    with pytest.raises(TypeError, match="SettingsInput has no 'forms'"):
        to_wire(CreateProcessInput, {"settings": {"forms": {}}})
    assert [camel(name) for name in ("from_", "zone_id", "p50_ms")] == ["from", "zoneId", "p50Ms"]
    assert query_of({"process_id": "a", "trial": False, "status": ["A", "B"], "q": None}) == {
        "processId": "a",
        "trial": "false",
        "status": ["A", "B"],
    }
    assert words_of({"my_name": [1, True, None], "from_": 2.5, "none": None}) == {
        "my_name": ["1", "true"],
        "from_": "2.5",
    }


def test_what_json_does_not_have_is_refused_with_its_place() -> None:
    given = {"input": {"parameters": {"prices": [1.5, None, float("nan")]}}}
    with pytest.raises(ValueError, match=r"/input/parameters/prices/2 is nan, which JSON does not have"):
        json_bytes(given, ScheduledProcessInput)
    with pytest.raises(ValueError, match=r"What is sent is -inf, which JSON does not have"):
        json_bytes(float("-inf"))
    assert json_bytes({"one": None, "two": [1e300]}) == b'{"one":null,"two":[1e300]}'
    assert json_bytes({"raw": msgspec.Raw(b'{"a":null}'), 1: None}) == b'{"raw":{"a":null},"1":null}'
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for kind, value in ((None, deep), (ScheduledProcessInput, {"input": {"parameters": {"deep": deep}}})):
        with pytest.raises(ValueError, match="nested too deeply"):
            json_bytes(value, kind)
    with (
        Client("http://127.0.0.1:9", "demo", "sk-secret") as pas,
        pytest.raises(ValueError, match="/parameters/x is nan"),
    ):
        pas.processes.run("greeting", {"x": float("nan")})


def test_an_answer_that_is_too_deep_is_told_as_that() -> None:
    with pytest.raises(UnexpectedAnswer, match="The value is nested too deeply to be read"):
        read_json("[" * 100_000 + "]" * 100_000, object, "The value")
    assert read_json('["\\ud800", 1e400]', object, "The value") == ["\ud800", float("inf")]


def test_a_part_of_a_path_leads_nowhere_else() -> None:
    assert segment("a/b ?#%") == "a%2Fb%20%3F%23%25"
    assert segment("a/b c", keep_slashes=True) == "a/b%20c"
    for wrong in ("", ".", ".."):
        with pytest.raises(ValueError, match="names nothing"):
            segment(wrong)
    for wrong in ("", "..", "../../processes/greeting", "a/../../b", "a/./b", "a/.."):
        with pytest.raises(ValueError, match="names nothing"):
            segment(wrong, keep_slashes=True)
    assert segment("a/..b/.c/d...", keep_slashes=True) == "a/..b/.c/d..."


def test_a_file_is_named_below_its_address_alone() -> None:
    with Client("http://127.0.0.1:9", "demo", "sk-secret") as pas:
        files = Files(pas._transport, "/sandboxes/an-id")
        with pytest.raises(ValueError, match="names nothing"):
            pas.storage.delete("../../processes/greeting")
        with pytest.raises(ValueError, match="names nothing"):
            pas.storage.read("../usage")
        with pytest.raises(ValueError, match="names nothing"):
            files.delete("/../../../processes/greeting")
        with pytest.raises(ValueError, match="names nothing"):
            files.read("/../commands")


def test_a_client_without_an_address_names_all_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PAS_URL", "PAS_TEAM", "PAS_TOKEN"):
        monkeypatch.delenv(name)
    with pytest.raises(ValueError, match="PAS_URL, PAS_TOKEN"):
        Client(team="demo")
    with pytest.raises(ValueError, match="no http or https"):
        Client("localhost:8080", "demo", "sk-secret")
    with Client("http://localhost:8080/", "demo", "sk-secret") as pas:
        with pytest.raises(ValueError, match="slash"):
            pas.request("GET", "http://elsewhere/")
        assert "sk-secret" not in repr(pas) + repr(pas._transport.settings)


def test_a_refusal_of_something_before_the_service_is_an_error_too() -> None:
    request = httpx2.Request("GET", "http://host/api/demo/rest/team")
    headers = {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT", "Fc-Execution-ID": "an-id"}
    error = error_of(httpx2.Response(429, request=request, text="<html>", headers=headers))
    assert isinstance(error, TooManyRequests)
    assert (error.code, error.retry_after, error.execution_id) == ("unknown", 0, "an-id")


def test_a_start_that_was_rejected_is_tried_again_as_another_one_unless_its_caller_has_named_it() -> None:
    keys: list[str] = []

    def service(request: httpx2.Request) -> httpx2.Response:
        keys.append(request.headers["Idempotency-Key"])
        # Under the same key it stays rejected.
        if keys[-1] != keys[0]:
            return httpx2.Response(200, json=42)
        rejection = {"code": "execution_rejected", "detail": "The queue of the team is full"}
        return httpx2.Response(429, json=rejection, headers={"Retry-After": "0"})

    with (
        httpx2.Client(transport=httpx2.MockTransport(service)) as http,
        Client("http://pas", "demo", "eyJh.eyJl.c2ln", http_client=http) as pas,
    ):
        for start in (pas.processes.execute_sync, pas.webhooks.call, lambda slug: pas.forms.submit_sync(slug, {})):
            keys.clear()
            start("x")
            assert len(set(keys)) == len(keys) == 2
        keys.clear()
        with pytest.raises(TooManyRequests):
            pas.processes.execute_sync("x", idempotency_key="mine")
        with pytest.raises(TooManyRequests):
            pas.webhooks.call("x", headers={"idempotency-key": "mine"})
        assert keys == ["mine", "mine"]


def test_headers_are_sent_as_utf_8() -> None:
    sent: dict[bytes, bytes] = {}

    def service(request: httpx2.Request) -> httpx2.Response:
        sent.update(request.headers.raw)
        return httpx2.Response(200, json={"executionId": "x"})

    with (
        httpx2.Client(transport=httpx2.MockTransport(service)) as http,
        Client("http://pas", "demo", "eyJh.eyJl.c2ln", http_client=http, headers={"X-From": "東京"}) as pas,
    ):
        pas.processes.run("x", initiated_by="Jürgen")
        pas.webhooks.call("x", headers={"X-Author": "Łukasz"})
    values = {name.decode().lower(): value.decode() for name, value in sent.items()}
    assert [values[name] for name in ("x-from", "svc-initiated-by", "x-author")] == ["東京", "Jürgen", "Łukasz"]


@pytest.mark.parametrize(("failure", "is_reached"), [(httpx2.ConnectError, False), (httpx2.ReadError, True)])
def test_a_deletion_that_never_reached_the_service_has_done_nothing(
    failure: type[httpx2.TransportError], is_reached: bool
) -> None:
    attempts = 0

    def service(request: httpx2.Request) -> httpx2.Response:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise failure("cut")
        return httpx2.Response(404, json={"code": "process_not_found", "detail": "No process"})

    with (
        httpx2.Client(transport=httpx2.MockTransport(service)) as http,
        Client("http://pas", "demo", "eyJh.eyJl.c2ln", http_client=http) as pas,
        nullcontext() if is_reached else pytest.raises(NotFound),
    ):
        pas.processes.delete("x")
    assert attempts == 2


def test_lines_of_a_command_are_read_however_they_are_cut() -> None:
    text = '{"type":"stdout","data":"ö"}\n{"type":"stdout","data":""}\n{"type":"new"}\n{"type":"lost","bytes":7}\n'.encode()
    for size in range(1, len(text)):
        lines = CommandLines()
        read = [one for at in range(0, len(text), size) for one in lines.read(text[at : at + size])]
        assert read == [CommandOutput("stdout", "ö"), CommandOutput("stdout", "", 7)]
    with pytest.raises(SandboxError, match="away") as raised:
        CommandLines().read(b'{"type":"error","code":"sandbox_unreachable","message":"away"}\n')
    assert raised.value.code == "sandbox_unreachable"
