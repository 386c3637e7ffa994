"""Client of the Process Automation Service: `Client`, and `AsyncClient` for code with async."""

from ._async.client import AsyncClient
from ._settings import VERSION as __version__
from ._sync.client import Client
from .commands import CommandOutput, CommandResult
from .errors import (
    ApiError,
    BadRequest,
    CommandError,
    Conflict,
    ConnectionError,
    Forbidden,
    NotFound,
    PreconditionFailed,
    ProcessAutomationError,
    RequestTimeout,
    RunError,
    SandboxError,
    ServerFault,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    UnexpectedAnswer,
    WaitTimeout,
)
from .run_events import RunEnd, RunEvent, RunLog, RunStatus
from .team_event import TeamEvent

__all__ = [
    "ApiError",
    "AsyncClient",
    "BadRequest",
    "Client",
    "CommandError",
    "CommandOutput",
    "CommandResult",
    "Conflict",
    "ConnectionError",
    "Forbidden",
    "NotFound",
    "PreconditionFailed",
    "ProcessAutomationError",
    "RequestTimeout",
    "RunEnd",
    "RunError",
    "RunEvent",
    "RunLog",
    "RunStatus",
    "SandboxError",
    "ServerFault",
    "TeamEvent",
    "TooManyRequests",
    "Unauthorized",
    "Unavailable",
    "UnexpectedAnswer",
    "WaitTimeout",
    "__version__",
]
