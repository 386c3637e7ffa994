"""
What the code of a process finds of the service that runs it: the module `svc`, which is also a global of every source.
Records are read by key and by attribute. `getattr(svc, "import")` is `import_module`, `getattr(svc.datastore, "del")` is
`delete`: their names are words of the language.
"""

from builtins import list as _list
from collections.abc import Iterable
from typing import IO, Any, TypedDict

class _Record(dict[str, Any]):
    def __getattr__(self, name: str) -> Any: ...

class WebhookRequest(_Record):
    method: str
    headers: dict[str, str]
    """Names are in lower case."""
    query: dict[str, str | list[str]]
    raw_body: str
    """The body as it came: text or, where `is_base64` says so, bytes in base64."""
    rawBody: str
    is_base64: bool | None
    isBase64: bool | None

class Context(_Record):
    parameters: _Record
    """What the caller gave."""
    request: WebhookRequest | None
    """Of runs that a webhook or a form has started."""

class Process(_Record):
    id: str
    name: str
    slug: str

class Schedule(_Record):
    id: str
    comment: str | None

class Execution(_Record):
    id: str
    comment: str | None
    process: Process
    schedule: Schedule | None
    """What has started it, where that is a schedule."""
    timezone: str
    """Of the team, as an IANA name."""

class Team(_Record):
    slug: str
    timezone: str
    """An IANA name."""

class _Settings(TypedDict, total=False):
    timeout: int
    """Milliseconds."""
    agent_pool_slug: str
    agentPoolSlug: str
    callback_url: str
    """Gets the outcome by POST."""
    callbackUrl: str
    fresh_process: bool
    freshProcess: bool

class Processes:
    def run(
        self,
        identifier: str,
        input: dict[str, Any] | None = None,
        *,
        parameters: dict[str, Any] | str | None = None,
        tag: str | None = None,
        comment: str | None = None,
        settings: _Settings | None = None,
    ) -> str:
        """Starts another process of the team, by its slug or id; gives the id of the execution."""
    def run_sync(
        self,
        identifier: str,
        input: dict[str, Any] | None = None,
        *,
        parameters: dict[str, Any] | str | None = None,
        tag: str | None = None,
        comment: str | None = None,
        settings: _Settings | None = None,
    ) -> Any:
        """Starts it and waits for its value. Raises ProcessError where it has none."""
    runSync = run_sync

class ProcessError(Exception):
    """What `svc.processes` raises."""

    message: str
    code: str | None
    """A stable word."""
    status: str | None
    """How the run ended, where it did not by its value."""
    execution_id: str | None
    executionId: str | None

class StorageObject(_Record):
    name: str
    size: int
    """Bytes."""
    md5_hash: str
    """In base64."""
    md5Hash: str
    content_type: str
    contentType: str
    created_at: str
    """RFC 3339."""
    createdAt: str
    updated_at: str
    updatedAt: str
    link: str

class SignedUrl(_Record):
    url: str
    path: str
    expires_at: str
    """RFC 3339."""
    expiresAt: str

_Bytes = str | bytes | bytearray | memoryview

class Storage:
    """The team's files, with names that may have slashes."""

    def upload(
        self,
        name: str,
        data: _Bytes | IO[bytes] | IO[str] | Iterable[_Bytes],
        options: dict[str, Any] | None = None,
        *,
        content_type: str | None = None,
        contentType: str | None = None,
    ) -> StorageObject:
        """Stores a file; one of the same name is replaced."""
    def download(self, name: str) -> bytes: ...
    def list(
        self, options: dict[str, Any] | str | None = None, *, prefix: str | None = None
    ) -> _list[StorageObject]: ...
    def delete(self, name: str) -> None: ...
    def create_signed_url(
        self,
        name: str,
        options: dict[str, Any] | None = None,
        *,
        expires_in_seconds: int | None = None,
        expiresInSeconds: int | None = None,
    ) -> SignedUrl:
        """A link by which anybody may download it for some time, an hour unless told otherwise."""
    createSignedUrl = create_signed_url

class Datastore:
    """Small values that the team's runs share: JSON of up to 64 KiB each."""

    def get(self, key: str) -> Any:
        """None where there is none."""
    def set(self, key: str, value: Any) -> None: ...
    def delete(self, key: str) -> bool:
        """Whether it was there."""
    def keys(self, prefix: str = "") -> _list[str]: ...

class StorageError(Exception):
    """What `svc.storage` and `svc.datastore` raise."""

    message: str
    code: str | None
    """A stable word, such as `object_not_found`."""

context: Context
env: dict[str, str]
"""The team's variables, by their keys. Values of sensitive ones appear as `******` in logs."""
execution: Execution
team: Team
processes: Processes
storage: Storage
datastore: Datastore

def import_module(name: str, tag_or_alias: str | None = None) -> Any:
    """A module of the team, by its name as a literal; of a version or alias where that is given."""

importModule = import_module
