"""How a run is started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._answers import json_of, record_of
from ...inputs import ExecuteProcessInput
from ...models import ExecutionId
from ...start_options import StartOptions
from ..resource import body_of, given
from ..run import Run
from ..transport import Call, Transport

#: Seconds for which an answer that waits for a run is waited for, at least. The service gives up after 55 s, unless its
#: operator has changed that.
SYNC_SILENCE = 120.0


def sync_silence(transport: Transport) -> float:
    """How long an answer that waits for a run is waited for."""
    return max(SYNC_SILENCE, transport.settings.request_timeout)


async def start(transport: Transport, path: str, parameters: Mapping[str, Any] | None, options: StartOptions) -> Run:
    """Starts a run, and does not wait for it."""
    response = await transport.send(_call(transport, path, parameters, options))
    return Run(transport, record_of(response, ExecutionId).execution_id)


async def start_and_wait(
    transport: Transport, path: str, parameters: Mapping[str, Any] | None, options: StartOptions
) -> Any:
    """Starts a run, and answers with its value, in one request."""
    call = _call(transport, path, parameters, options)
    call.timeout = sync_silence(transport)
    return json_of(await transport.send(call))


def run_settings(options: Mapping[str, Any]) -> dict[str, Any] | None:
    """The settings of a run, with `timeout` in milliseconds; None where there are none."""
    settings: dict[str, Any] = {**(options.get("settings") or {})}
    if (seconds := options.get("timeout")) is not None:
        settings["timeout"] = round(seconds * 1000)
    return settings or None


def _call(transport: Transport, path: str, parameters: Mapping[str, Any] | None, options: StartOptions) -> Call:
    """It has a key, so that no attempt of it starts a second run."""
    unknown = set(options) - StartOptions.__optional_keys__
    if unknown:
        raise TypeError(f"A start has no option {', '.join(sorted(unknown))}")
    members = given(
        parameters=parameters,
        tag=options.get("tag"),
        comment=options.get("comment"),
        settings=run_settings(options),
        draft=options.get("draft"),
    )
    headers = {f"{transport.settings.header_prefix}Initiated-By": options.get("initiated_by")}
    call = transport.call("POST", path, json=body_of(ExecuteProcessInput, members), headers=headers)
    call.give_key(options.get("idempotency_key"))
    return call
