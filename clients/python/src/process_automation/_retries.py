"""When a call is made again. Nothing that the service may have done already is asked for twice."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

from .errors import ApiError

#: Seconds before the first retry; each one after waits twice as long.
FIRST_DELAY = 0.25
#: Seconds beyond which Retry-After is not waited for.
LONGEST_DELAY = 30.0

REPEATABLE_METHODS = frozenset({"GET", "HEAD", "PUT", "DELETE"})
REPEATABLE_STATUSES = frozenset({408, 429, 502, 503, 504})


def is_repeatable(method: str, headers: Mapping[str, str]) -> bool:
    """Whether a call may be made again when it is not known what became of it."""
    return method in REPEATABLE_METHODS or "Idempotency-Key" in headers


def new_idempotency_key() -> str:
    """The same for each attempt of one start, so that it is done once."""
    return str(uuid.uuid4())


def is_rejection(outcome: object) -> bool:
    """Whether a start was rejected: it never ran, and the same key only gives the same answer."""
    return isinstance(outcome, ApiError) and outcome.code == "execution_rejected"


def says_done(method: str, refusal: ApiError) -> bool:
    """Whether the refusal of a repeated call says that what was asked is done."""
    if method == "DELETE":
        if refusal.code == "nothing_staged":
            return True
        # Neither another address nor another team says that the thing itself is gone.
        return refusal.status == 404 and refusal.code.endswith("_not_found") and refusal.code != "team_not_found"
    # The answers of pause and resume alone.
    return method == "PUT" and refusal.code in ("schedule_paused", "schedule_active")


def delay_after_refusal(error: ApiError, attempt: int, jitter: float) -> float | None:
    """Seconds until a repeatable call is made again, or None. `attempt` is 0 for the first, `jitter` from 0 to 1."""
    if error.status not in REPEATABLE_STATUSES or error.code == "execution_timeout":
        return None
    if error.retry_after is not None:
        return error.retry_after + jitter * FIRST_DELAY if error.retry_after <= LONGEST_DELAY else None
    return delay_after_cut(attempt, jitter)


def delay_after_cut(attempt: int, jitter: float) -> float:
    """Seconds until a call whose connection was lost is made again."""
    return min(FIRST_DELAY * 2.0**attempt, LONGEST_DELAY) * (0.5 + jitter / 2)


def retry_after_of(headers: Mapping[str, str], now: Callable[[], float]) -> float | None:
    """The seconds that Retry-After names, as a number or as a date. `now` is in seconds of the epoch."""
    text = headers.get("retry-after", "").strip()
    if text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now())
    except ValueError:
        return None
