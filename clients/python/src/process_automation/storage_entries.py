"""Lists of files."""

from __future__ import annotations

from typing import Any

import msgspec

from .errors import UnexpectedAnswer
from .models import StorageFolder, StorageObject


def entries_of(values: Any) -> list[StorageObject | StorageFolder]:
    """Files and folders, which have a prefix in place of a name. Raises UnexpectedAnswer for anything else."""
    try:
        members = msgspec.convert(values, list[dict[str, Any]])
        return [_entry_of(one) for one in members]
    except msgspec.ValidationError as error:
        raise UnexpectedAnswer(f"GET /storage/objects: {error}") from error


def _entry_of(members: dict[str, Any]) -> StorageObject | StorageFolder:
    return msgspec.convert(members, StorageFolder) if "prefix" in members else msgspec.convert(members, StorageObject)
