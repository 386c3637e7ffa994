"""Which operation of the service's OpenAPI document a method stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Method = TypeVar("Method", bound=Callable[..., object])


def operation(*ids: str) -> Callable[[Method], Method]:
    """Marks a method with the operations that it calls, for the test that looks for one without a method."""

    def mark(method: Method) -> Method:
        method.__dict__["operations"] = ids
        return method

    return mark
