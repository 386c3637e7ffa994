"""How a run is started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._answers import json_of
from ...inputs import DraftInput, ExecuteProcessInput, ExecutionSettingsInput
from ...models import ExecutionId
from ..resource import body_of, given, new_idempotency_key
from ..run import Run
from ..transport import Call, Transport

#: Seconds for which an answer that waits for a run is waited for; the service gives up before.
SYNC_SILENCE = 120.0


def start_call(
    transport: Transport,
    path: str,
    *,
    parameters: Mapping[str, Any] | None,
    tag: str | None = None,
    comment: str | None = None,
    timeout: float | None = None,
    settings: ExecutionSettingsInput | None = None,
    draft: DraftInput | None = None,
    initiated_by: str | None = None,
    idempotency_key: str | None = None,
) -> Call:
    """The call of a start. It has a key, so that no attempt of it starts a second run."""
    limits: dict[str, Any] = {**(settings or {})}
    if timeout is not None:
        limits["timeout"] = round(timeout * 1000)
    members = given(parameters=parameters, tag=tag, comment=comment, settings=limits or None, draft=draft)
    headers = {
        "Idempotency-Key": idempotency_key or new_idempotency_key(),
        f"{transport.settings.header_prefix}-Initiated-By": initiated_by,
    }
    return transport.call("POST", path, json=body_of(ExecuteProcessInput, members), headers=headers)


async def start(transport: Transport, call: Call) -> Run:
    """Starts it, and does not wait for it."""
    response = await transport.send(call)
    return Run(transport, transport.read(response, ExecutionId).execution_id)


async def start_and_wait(transport: Transport, call: Call) -> Any:
    """Starts it, and answers with its value, in one request."""
    call.timeout = max(SYNC_SILENCE, transport.settings.request_timeout)
    return json_of(await transport.send(call))
