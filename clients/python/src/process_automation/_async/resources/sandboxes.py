"""Isolated environments for commands, files and servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..._operations import operation
from ..._settings import segment
from ...inputs import CreateSandboxInput
from ...models import Sandbox as SandboxRecord
from ...models import SandboxesPaginatedResult, SandboxImage
from ..pages import Listing
from ..primitives import finished_or_undone
from ..resource import Resource, body_of, given
from ..sandbox.sandbox import Sandbox


class Sandboxes(Resource):
    """A sandbox is named by its id."""

    @operation("getSandboxes")
    def list(self, *, limit: int | None = None) -> Listing[SandboxRecord, SandboxesPaginatedResult]:
        """All sandboxes, the newest first; `get` gives one to work with."""
        return Listing(self._transport, "/sandboxes", SandboxesPaginatedResult, {"limit": limit})

    @operation("postSandboxes")
    async def create(
        self,
        *,
        image_id: str = "base",
        name: str | None = None,
        timeout: float | None = None,
        ports: Sequence[int] = (),
        ports_basic_auth: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> Sandbox:
        """
        Makes a sandbox and waits until it runs. It ends after `timeout` seconds. `ports` are public, for who has
        `user:credential` of `ports_basic_auth` where that is given. Where it is cancelled while that gets ready, it ends it.
        """
        members = given(
            image_id=image_id,
            name=name,
            timeout=None if timeout is None else round(timeout * 1000),
            public_http_ports=[*ports] or None,
            public_http_ports_basic_auth=ports_basic_auth,
            metadata=metadata,
        )
        body = body_of(CreateSandboxInput, members)

        async def make() -> Sandbox:
            record = await self._transport.record(SandboxRecord, "POST", "/sandboxes", json=body)
            return Sandbox(self._transport, record)

        return await finished_or_undone(make, Sandbox.ready, Sandbox.kill)

    async def get(self, id: str) -> Sandbox:
        """A sandbox that was made before."""
        return Sandbox(self._transport, await self._transport.record(SandboxRecord, "GET", f"/sandboxes/{segment(id)}"))

    @operation("getSandboxesImages")
    async def images(self) -> tuple[SandboxImage, ...]:
        """What a sandbox can be made of."""
        return await self._transport.record(tuple[SandboxImage, ...], "GET", "/sandboxes/images")
