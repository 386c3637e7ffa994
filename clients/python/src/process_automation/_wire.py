"""Python names of members to those of the wire, and back."""

from __future__ import annotations

import json
import math
import types
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any, NotRequired, Required, Union, get_args, get_origin, get_type_hints, is_typeddict

import msgspec


def json_bytes(value: Any, kind: Any = None) -> bytes:
    """
    A value as JSON, with the names of the wire where `kind` has them. Raises ValueError for one that is too deep, and for
    NaN and infinities, which JSON does not have.
    """
    try:
        sent = value if kind is None else to_wire(kind, value)
        text = msgspec.json.encode(sent)
    except RecursionError:
        raise ValueError("What is sent is nested too deeply, or within itself") from None
    # What JSON does not have becomes null.
    if b"null" in text:
        _require_finite(sent)
    return text


def _require_finite(sent: Any) -> None:
    # What it knows nothing of is JSON already.
    whole = msgspec.to_builtins(sent, str_keys=True, enc_hook=lambda _: None)
    # Quick, but it says no place.
    with suppress(ValueError, RecursionError):
        json.dumps(whole, allow_nan=False, check_circular=False)
        return
    waiting: list[tuple[str, Any]] = [("", whole)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{path or 'What is sent'} is {value}, which JSON does not have")
        if isinstance(value, dict):
            waiting.extend((f"{path}/{name}", member) for name, member in value.items())
        elif isinstance(value, list | tuple):
            waiting.extend((f"{path}/{at}", item) for at, item in enumerate(value))


def to_wire(kind: Any, value: Any) -> Any:
    """
    An input as it is sent: `source_code` becomes `sourceCode`, in all dictionaries that `kind` knows the members of.
    Raises TypeError for a member that there is not: the service would ignore it.
    """
    if isinstance(value, Mapping):
        known = _dictionary_in(kind)
        if known is None:
            return value
        hints = _hints(known)
        unknown = [name for name in value if name not in hints]
        if unknown:
            raise TypeError(f"{known.__name__} has no {', '.join(map(repr, unknown))}; it has {', '.join(hints)}")
        return {camel(name): to_wire(hints[name], member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        item = _item_in(kind)
        return [to_wire(item, one) for one in value]
    return value


def camel(name: str) -> str:
    """`source_code` as `sourceCode`, and `from_` as `from`."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in others)


def query_of(values: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """A query as it is sent, without what is None; lists repeat their name."""
    return words_of({camel(name): value for name, value in values.items()})


def words_of(values: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """The same with names as they are."""
    return {name: _words_of(value) for name, value in values.items() if value is not None}


def _words_of(value: Any) -> str | list[str]:
    if isinstance(value, list | tuple | set | frozenset):
        return [_word_of(one) for one in value if one is not None]
    return _word_of(value)


def _word_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _dictionary_in(kind: Any) -> Any:
    """The typed dictionary among the alternatives of a type."""
    return next((one for one in _alternatives(kind) if is_typeddict(one)), None)


def _item_in(kind: Any) -> Any:
    return next((get_args(one)[0] for one in _alternatives(kind) if get_origin(one) is list), None)


def _alternatives(kind: Any) -> list[Any]:
    if get_origin(kind) in (Union, types.UnionType, Required, NotRequired):
        return [one for part in get_args(kind) for one in _alternatives(part)]
    return [kind]
