"""Reads answers: records, and refusals as errors."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar

import httpx2
import msgspec

from ._retries import retry_after_of
from .errors import BY_STATUS, ApiError, ServerFault, UnexpectedAnswer
from .models import FieldFault
from .records import Record

T = TypeVar("T")


class Problem(msgspec.Struct, rename="camel"):
    """What of a problem (RFC 9457) a client tells on."""

    detail: str = ""
    code: str = ""
    request_id: str | None = None
    errors: list[FieldFault] = []
    execution_id: str | None = None


def error_of(response: httpx2.Response) -> ApiError:
    """The error for a refusal whose body was read."""
    members: dict[str, Any] = {}
    problem = Problem()
    # What is no problem comes from the process of a webhook, or from something before the service.
    with suppress(msgspec.MsgspecError, RecursionError):
        members = msgspec.json.decode(response.content, type=dict[str, Any])
        problem = msgspec.convert(members, Problem)
    status = response.status_code
    kind = BY_STATUS.get(status, ServerFault if status >= 500 else ApiError)
    return kind(
        problem.detail or f"{response.request.method} {response.request.url.path} was refused",
        status=status,
        code=problem.code or "unknown",
        request_id=problem.request_id or response.headers.get("x-request-id"),
        errors=problem.errors,
        retry_after=retry_after_of(response.headers, time.time),
        execution_id=problem.execution_id or execution_id_of(response.headers),
        problem=members,
        text=response.text,
    )


def execution_id_of(headers: Mapping[str, str]) -> str | None:
    """The run that an answer is about; what stands before the header's name is a setting of the service."""
    return next((value for name, value in headers.items() if name.lower().endswith("-execution-id")), None)


def record_of(response: httpx2.Response, kind: type[T]) -> T:
    """The body as this type. A record has the ETag of its answer."""
    value = read_json(response.content, kind, f"{response.request.method} {response.request.url.path}")
    if isinstance(value, Record):
        value.__dict__["etag"] = response.headers.get("etag")
    return value


def read_json(text: bytes | str, kind: type[T], where: str) -> T:
    """JSON as this type. `where` is what the error says that it came from."""
    try:
        return _read(text, kind)
    except RecursionError:
        raise UnexpectedAnswer(f"{where} is nested too deeply to be read") from None
    except msgspec.MsgspecError as error:
        raise UnexpectedAnswer(
            f"{where}: {error}. Is the service older than this client, or something else at that address?"
        ) from error


def _read(text: bytes | str, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.MsgspecError:
        # Parameters and values may have what it reads no further at: half of a surrogate pair, a number beyond a double.
        with suppress(ValueError):
            return msgspec.convert(json.loads(text, parse_int=_integer), kind, str_keys=True)
        raise


def _integer(text: str) -> int | float:
    # Python refuses those of more than some thousand digits.
    with suppress(ValueError):
        return int(text)
    return float(text)


def json_of(response: httpx2.Response) -> Any:
    """The body as plain values; None where it is empty."""
    return read_json(response.content, object, str(response.request.url.path)) if response.content else None
