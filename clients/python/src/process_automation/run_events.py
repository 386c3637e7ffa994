"""What a run's stream of events has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .models import ExecutionLog, ExecutionTimelineEvent
from .words import ExecutionStatus


@dataclass(frozen=True)
class RunStatus:
    """The run has another status."""

    id: str
    event: ExecutionTimelineEvent


@dataclass(frozen=True)
class RunLog:
    """The run has logged a line."""

    id: str
    entry: ExecutionLog


@dataclass(frozen=True)
class RunEnd:
    """The run has ended; nothing comes behind it."""

    id: str
    status: ExecutionStatus


RunEvent: TypeAlias = RunStatus | RunLog | RunEnd
