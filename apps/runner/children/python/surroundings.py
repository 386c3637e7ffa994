"""What a run finds around it: environment variables, and a private directory as its working and home directory."""

import os
import time

DIRECTORY_VARIABLES = ("HOME", "TMPDIR", "TMP_DATA_DIR")


def forget_own():
    """What is for the start of this program alone."""
    os.environ.pop("LD_BIND_NOW", None)


def set_variables(directory, variables, before):
    """
    Sets the team variables in `os.environ` in the place of those of `before`; only TMP_DATA_DIR is not theirs. What they
    leave open leads to the private directory.
    """
    for name in before:
        if name not in variables and name not in DIRECTORY_VARIABLES:
            os.environ.pop(name, None)
    for name in DIRECTORY_VARIABLES:
        if name == "TMP_DATA_DIR" or name not in variables:
            os.environ[name] = directory
    for name, value in variables.items():
        if name != "TMP_DATA_DIR":
            try:
                os.environ[name] = value
            except (ValueError, UnicodeError):
                continue  # An environment holds no such text; `svc.env` does.
    if "TZ" in variables:
        time.tzset()


def set_traceparent(traceparent, variables):
    """Sets the trace context that the run sees, unless the team has a variable of that name."""
    if traceparent and "TRACEPARENT" not in variables:
        os.environ["TRACEPARENT"] = traceparent
