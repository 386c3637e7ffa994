"""What all records have in common."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

Item = TypeVar("Item")


class Record(msgspec.Struct, kw_only=True, rename="camel", dict=True):
    """A record of the service. Members that this release does not know are left out; absent ones are None."""

    @property
    def etag(self) -> str | None:
        """The state that was read, for `if_match` of a later write; None where the answer named none."""
        value = self.__dict__.get("etag")
        return value if isinstance(value, str) else None


class Page(Record, Generic[Item], kw_only=True):
    """One page of a list."""

    page: int
    """From 0"""
    limit: int
    total: int
    """Exact up to 10,000; 10,001 stands for more"""
    has_next_page: bool
    data: list[Item]
