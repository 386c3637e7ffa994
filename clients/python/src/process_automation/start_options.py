"""How a run is to be started."""

from __future__ import annotations

from typing import TypedDict

from .inputs import DraftInput, ExecutionSettingsInput


class RunOptions(TypedDict, total=False):
    """All of them may be absent."""

    tag: str | None
    """A version's tag or id, or an alias; absent it is the current source"""
    timeout: float | None
    """Seconds that the run may take"""
    comment: str | None
    settings: ExecutionSettingsInput | None
    initiated_by: str | None
    """Who is recorded as having started it"""
    idempotency_key: str | None
    """The same key gives the same run for 24 hours; absent, each call makes one of its own for its attempts"""


class StartOptions(RunOptions, total=False):
    """Those of a process that is stored."""

    draft: DraftInput | None
    """Is run once in place of the stored source, and saved nowhere"""
