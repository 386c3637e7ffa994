"""What is told of anything that a run threw: name, message and traceback, with the user's own frames only."""

import os
import sys
import traceback

import missing

MAX_MESSAGE = 16 * 1024
MAX_STACK = 64 * 1024
OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
PACKAGES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


def describe(error):
    """`{name, message, stack}` of an exception."""
    try:
        return described(error)
    except Exception:
        name = type(error).__name__
        message = "What was raised can't be shown"
        return {"name": name, "message": message, "stack": f"{name}: {message}"}


def described(error):
    missing.explain(error)
    trace = traceback.TracebackException.from_exception(error)
    keep_users_frames(trace)
    # By which the runner knows it, whatever a library makes of it.
    name = "MemoryError" if isinstance(error, MemoryError) else type(error).__name__
    if isinstance(error, SystemExit):
        message = f"sys.exit({'' if error.code is None else repr(error.code)}) was called before the run had a value"
        frames = "".join(trace.stack.format())
        stack = f"Traceback (most recent call last):\n{frames}{name}: {message}"
    else:
        message = words_of(error)
        stack = "".join(trace.format()).rstrip("\n")
    return {"name": name, "message": cut(message, MAX_MESSAGE), "stack": cut(stack, MAX_STACK)}


def words_of(thing):
    try:
        return str(thing)
    except Exception:
        return "<exception str() failed>"  # As its traceback has it.


def text_of(error):
    """The traceback of an exception that ends no run, as Python prints it."""
    missing.explain(error)
    trace = traceback.TracebackException.from_exception(error)
    keep_users_frames(trace)
    return cut("".join(trace.format()).rstrip("\n"), MAX_STACK)


def keep_users_frames(trace):
    seen = set()
    open_ends = [trace]
    while open_ends:
        each = open_ends.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        if each.stack:
            each.stack = traceback.StackSummary.from_list([frame for frame in each.stack if is_users(frame.filename)])
        open_ends.extend([each.__cause__, each.__context__, *(each.exceptions or ())])


def is_users(file_name):
    if file_name.startswith((OWN, "<frozen ")):
        return False
    return not file_name.startswith(LIBRARY) or any(each in file_name for each in PACKAGES)


def cut(text, length):
    return f"{text[:length]}… (cut)" if len(text) > length else text


def put_back_limits():
    """What a run may have set so that nothing could be told of its end."""
    sys.settrace(None)
    sys.setprofile(None)
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 1000))
