"""What the stream of a team's events has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from .models import Execution


@dataclass(frozen=True)
class TeamEvent:
    """Something has happened; a later release of the service may have more types."""

    id: str | None
    """For `last_event_id`"""
    type: str
    """`execution`, `process`, `schedule`, `install`, `sandbox`, or `gap`"""
    data: dict[str, Any]
    """As it came"""

    @property
    def execution(self) -> Execution | None:
        """The record of an event of the type `execution`, as lists show it."""
        return msgspec.convert(self.data, Execution, strict=False) if self.type == "execution" else None
