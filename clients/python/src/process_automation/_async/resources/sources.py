"""Code that is not saved."""

from __future__ import annotations

from typing import Unpack

from ..._answers import record_of
from ..._operations import operation
from ...inputs import CheckSourceInput, RunCodeInput, RunCodeOptions
from ...models import CodeRun, SourceCheck
from ...words import ProgrammingLanguage
from ..resource import Resource, body_of
from .starts import sync_silence


class Sources(Resource):
    """Checks sources, and runs them."""

    @operation("postSourcesCheck")
    async def check(self, programming_language: ProgrammingLanguage, source_code: str) -> SourceCheck:
        """Faults of the syntax, and what each import leads to."""
        members = {"programming_language": programming_language, "source_code": source_code}
        body = body_of(CheckSourceInput, members)
        return await self._transport.record(SourceCheck, "POST", "/sources/check", json=body)

    @operation("postRun")
    async def run(self, code: str, **options: Unpack[RunCodeOptions]) -> CodeRun:
        """
        Runs code as a process of its own and waits for its end, whichever it is; wants a client with an API token.
        Nothing is asked for twice: where no answer comes, the code may have run.
        """
        settings = self._transport.settings
        headers = {"x-api-token": settings.api_token}
        body = body_of(RunCodeInput, {"code": code, "options": options})
        call = self._transport.call("POST", f"{settings.url}/run", json=body, headers=headers)
        call.timeout = sync_silence(self._transport)
        call.with_token = False
        return record_of(await self._transport.send(call), CodeRun)
