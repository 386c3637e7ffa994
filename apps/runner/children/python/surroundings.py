"""What a run finds around it: environment variables, and a private directory as its working and home directory."""

import os
import time

DIRECTORY_VARIABLES = ("HOME", "TMPDIR", "TMP_DATA_DIR")


# What stands where the team has no variable of the name.
own = {}


def prepare():
    """Forgets what is for the start of this program alone, and remembers the rest."""
    os.environ.pop("LD_BIND_NOW", None)
    own.update(os.environ)


def set_variables(directory, variables, before):
    """
    Sets the team variables in `os.environ` in the place of those of `before`; only TMP_DATA_DIR is not theirs. What they
    leave open is as without them. What packages have set while they were imported stays.
    """
    for name in before:
        if name in own:
            os.environ[name] = own[name]
        else:
            os.environ.pop(name, None)
    os.environ.update(dict.fromkeys(DIRECTORY_VARIABLES, directory))
    for name, value in variables.items():
        if name != "TMP_DATA_DIR":
            try:
                os.environ[name] = value
            except (ValueError, UnicodeError):
                continue  # An environment holds no such text; `svc.env` does.
    if "TZ" in before or "TZ" in variables:
        time.tzset()


def set_traceparent(traceparent, variables):
    """Sets the trace context that the run sees, unless the team has a variable of that name."""
    if traceparent and "TRACEPARENT" not in variables:
        os.environ["TRACEPARENT"] = traceparent
