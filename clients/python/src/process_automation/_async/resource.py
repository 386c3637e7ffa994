"""What all resources of a client have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._wire import json_bytes
from .transport import Transport


class Resource:
    """Methods for one kind of things that a team has."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _prefixed(self, name: str) -> str:
        """A header of the service's own, such as `Svc-Initiated-By`."""
        return f"{self._transport.settings.header_prefix}{name}"


def body_of(kind: Any, members: Mapping[str, Any]) -> bytes:
    """An input as JSON. Members that are not given are absent, those that are None are null."""
    return json_bytes(members, kind)


def given(**members: Any) -> dict[str, Any]:
    """The members that are not None, for inputs in which null means nothing."""
    return {name: value for name, value in members.items() if value is not None}
