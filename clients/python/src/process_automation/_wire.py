"""Python names of members to those of the wire, and back."""

from __future__ import annotations

import types
from collections.abc import Mapping
from functools import cache
from typing import Any, NotRequired, Required, Union, get_args, get_origin, get_type_hints, is_typeddict


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
