"""Lists that are read page by page."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Generic, TypeVar

from ..records import Page
from .transport import Transport

Item = TypeVar("Item")
PageOf = TypeVar("PageOf", bound=Page[Any])


class Listing(Generic[Item, PageOf]):
    """What a list has, for a loop: pages are read when the loop comes to them."""

    def __init__(
        self,
        transport: Transport,
        path: str,
        kind: type[PageOf],
        query: Mapping[str, Any],
        *,
        has_cursor: bool = False,
    ) -> None:
        self._transport = transport
        self._path = path
        self._kind = kind
        self._query = query
        self._has_cursor = has_cursor

    async def page(self, number: int = 0) -> PageOf:
        """One page, from 0, with the total."""
        return await self._read({"page": number})

    async def pages(self) -> AsyncGenerator[PageOf]:
        """All pages, one after the other."""
        at: dict[str, Any] = {"after": ""} if self._has_cursor else {"page": 0}
        while True:
            page = await self._read(at)
            yield page
            if not page.has_next_page:
                return
            at = {"after": page.after} if self._has_cursor else {"page": page.page + 1}  # type: ignore[attr-defined]

    async def __aiter__(self) -> AsyncGenerator[Item]:
        async for page in self.pages():
            for item in page.data:
                yield item

    async def _read(self, at: dict[str, Any]) -> PageOf:
        return await self._transport.record(self._kind, "GET", self._path, query={**self._query, **at})
