"""What calls raise."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

from .models import FieldFault
from .words import ExecutionStatus


class ProcessAutomationError(Exception):
    """All that this package raises itself, wrong arguments aside."""


class ApiError(ProcessAutomationError):
    """The service has refused a call. Its subclasses stand for statuses of HTTP."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        request_id: str | None = None,
        errors: Sequence[FieldFault] = (),
        retry_after: float | None = None,
        execution_id: str | None = None,
        problem: Mapping[str, Any] | None = None,
        text: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        #: Of HTTP.
        self.status = status
        #: A stable word; a later release of the service may have more of them.
        self.code = code
        #: What the service's log has the call under.
        self.request_id = request_id
        #: The faults of the input, each with a JSON pointer.
        self.errors = list(errors)
        #: Seconds after which the call may be made again.
        self.retry_after = retry_after
        #: Of the run that it is about.
        self.execution_id = execution_id
        #: The whole problem (RFC 9457), with what only some have, such as `requiredScope`, `etag` or `error`; of a process
        #: that answers its webhook otherwise, the members of its JSON.
        self.problem = dict(problem or {})
        #: The answer as it came.
        self.text = text

    def __str__(self) -> str:
        request = f", request {self.request_id}" if self.request_id else ""
        return f"{self.message} ({self.status} {self.code}{request})"


class BadRequest(ApiError):
    """400"""


class Unauthorized(ApiError):
    """401: the token is not valid, and no fresh one was to be had."""


class Forbidden(ApiError):
    """403: the token may not do that."""


class NotFound(ApiError):
    """404"""


class RequestTimeout(ApiError):
    """408: with the code `execution_timeout` the run goes on, and `execution_id` names it."""


class Conflict(ApiError):
    """409"""


class PreconditionFailed(ApiError):
    """412: it was changed after it was read."""


class TooManyRequests(ApiError):
    """429"""


class ServerFault(ApiError):
    """500 and above: a fault of the service."""


class Unavailable(ServerFault):
    """502, 503, 504: the service, or a part of it, is away for a time."""


class ConnectionError(ProcessAutomationError, builtins.ConnectionError):
    """No answer came, or not all of it. `except` with Python's own ConnectionError has it, too."""


class UnexpectedAnswer(ProcessAutomationError):
    """An answer is not what this release of the client expects."""


class WaitTimeout(ProcessAutomationError, builtins.TimeoutError):
    """The caller would wait no longer; the run goes on. `except` with Python's own TimeoutError has it, too."""

    def __init__(self, message: str, execution_id: str) -> None:
        super().__init__(message)
        self.execution_id = execution_id


class RunError(ProcessAutomationError):
    """A run has ended without a value."""

    def __init__(
        self, *, status: ExecutionStatus, execution_id: str, explanation: str, log_tail: Sequence[str] = ()
    ) -> None:
        super().__init__(explanation)
        #: ERROR, KILLED or REJECTED.
        self.status = status
        self.execution_id = execution_id
        self.explanation = explanation
        #: The last lines of the log.
        self.log_tail = list(log_tail)

    def __str__(self) -> str:
        lines = "".join(f"\n  {line}" for line in self.log_tail)
        return f"run {self.execution_id} ended as {self.status}: {self.explanation}{lines}"


class SandboxError(ProcessAutomationError):
    """A sandbox, or the way to it, has ended before what was asked of it."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        #: Such as `sandbox_unreachable`, `sandbox_failed`, `stopping` or `token_expired`.
        self.code = code


class CommandError(ProcessAutomationError):
    """A command in a sandbox has ended with another code than 0, or was ended."""

    def __init__(self, message: str, *, exit_code: int, stdout: str, stderr: str) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.stdout = stdout
        self.stderr = stderr


BY_STATUS: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    408: RequestTimeout,
    409: Conflict,
    412: PreconditionFailed,
    429: TooManyRequests,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}
