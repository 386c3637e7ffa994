"""The return value of a run as JSON."""

import builtins
import json
import re

TRANSIENT_MARKS = {"isTransient", "transient"}
RESPONSE_KEYS = {"status", "headers", "body", "data"}
# Each level is written once more.
PLACE_MAX_LEVELS, PLACE_MAX_CHARACTERS = 20, 200
SURROGATES = re.compile("[\ud800-\udfff]")


class Encoder(json.JSONEncoder):
    def default(self, o):
        kind = type(o)
        # Such as `numpy.bool`, of which `bool` alone would say what is not so.
        is_own = kind.__module__ == "builtins" or not hasattr(builtins, kind.__name__)
        name = kind.__name__ if is_own else f"{kind.__module__}.{kind.__name__}"
        raise TypeError(f"Object of type {name} is not JSON serializable")


encode = Encoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def serialise(value, max_bytes):
    """
    `(bytes, is_transient)`: what `json.dumps` makes of it. Throws an error that says in words why a value has no JSON
    form, or that it is larger than `max_bytes`.
    """
    is_transient, delivered = delivered_of(value)
    data = json_of(delivered)
    if len(data) > max_bytes:
        raise ValueError(f"The return value has more than the {max_bytes} bytes of JSON that a run may return")
    return data, is_transient


def delivered_of(value):
    """
    What is delivered of `{"isTransient": True, "body": …}` or `{"transient": True, "data": …}`: the body alone, or,
    when the mapping describes a response, that response without the mark. A numeric status does so whatever else is
    there, which the gateway tells as left out.
    """
    if not isinstance(value, dict):
        return False, value
    if value.get("isTransient") is True and "body" in value:
        key = "body"
    elif value.get("transient") is True and "data" in value:
        key = "data"
    else:
        return False, value
    others = [each for each in value if each not in TRANSIENT_MARKS]
    status = value.get("status")
    has_status = isinstance(status, (int, float)) and not isinstance(status, bool)
    if len(others) == 1 or not (has_status or all(each in RESPONSE_KEYS for each in others)):
        return True, value[key]
    return True, {**{each: value[each] for each in others if each != "data"}, "body": value[key]}


def json_of(value):
    try:
        text = encode(value)
    except RecursionError:
        raise unwritable("it is nested too deeply") from None
    except (TypeError, ValueError, OverflowError) as error:
        is_cycle = str(error).startswith("Circular")
        raise unwritable(error if is_cycle else f"{error}{where(value)}") from None
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Halves of characters, which only JSON's own escapes can carry.
        return SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def where(value):
    """The place of what has no JSON form, in words; empty where that is the value itself."""
    place = ""
    for _ in range(PLACE_MAX_LEVELS):
        found = next(((inner, each) for inner, each in parts_of(value, place) if not has_form(each)), None)
        if found is None:
            break
        place, value = found
    return f", at {place[:PLACE_MAX_CHARACTERS]}" if place else ""


def parts_of(value, place):
    """What it is made of, with their places; nothing of a mapping whose keys are at fault."""
    if isinstance(value, dict) and has_form(dict.fromkeys(value)):
        return ((place + member(key, place), each) for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return ((f"{place}[{at}]", each) for at, each in enumerate(value))
    return ()


def member(key, place):
    if not (isinstance(key, str) and key.isidentifier()):
        return f"[{encode(key)}]"
    return f".{key}" if place else key


def has_form(value):
    try:
        encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False
    return True


def unwritable(reason):
    return TypeError(f"The return value can't be written as JSON: {reason}")
