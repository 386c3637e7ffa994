"""
What process code prints. `print` and standard error write records into standard output, between the raw bytes that
anything else puts there, so that the order holds: a mark that no UTF-8 text contains, a kind (log level, or RAW_ERROR
for bytes of standard error), the time in microseconds, a length, and the text; as children/javascript/output.js does.
All is written at once: it is seen live, and survives whatever ends the process. Where process code has led standard
output elsewhere, all of it is plain text; so is what goes to a standard error that leads elsewhere.
"""

import builtins
import ctypes
import functools
import io
import os
import struct
import sys
import threading
import time

import warm

DEBUG = 1
INFO = 2
WARNING = 3
ERROR = 4
RAW_ERROR = 16
FENCE = 17
STANDARD_OUTPUT = 1
STANDARD_ERROR = 2
MARK = b"\xff\x00\xfe\x01"
HEAD = struct.Struct("<4sBdI")
MAX_CHARACTERS = 128 * 1024
MAX_BYTES = 512 * 1024
# The runner counts no less of a line.
COUNTED_BYTES = 64 * 1024
RETRY_S = 0.001
NATIVE_OUTPUT = "__stdoutp" if sys.platform == "darwin" else "stdout"

write = os.write
look = os.fstat
now = time.time
sleep = time.sleep
pack = HEAD.pack
plain_print = builtins.print
lock = threading.RLock()


class State:
    lines = 0
    bytes = 0
    max_lines = 0
    max_bytes = 0
    fences = 0
    # What the two descriptors led to at first.
    pipes = ()


def restart(limits):
    """A run begins, which may print so many lines and bytes before the rest is dropped."""
    State.max_lines = limits["lines"]
    State.max_bytes = limits["bytes"]


def emit(kind, text):
    """Writes one log entry; where standard output leads elsewhere, a line of standard error."""
    if is_in_place(STANDARD_OUTPUT):
        keep(kind, text)
    else:
        write_all(STANDARD_ERROR, encoded(text) + b"\n")


def keep(kind, text):
    """Writes one log entry into standard output, which is in its place."""
    # What goes beyond the limit is told to the runner once; it counts the same, so it drops all that follows.
    if State.lines > State.max_lines or State.bytes > State.max_bytes:
        return
    State.lines += 1
    data = encoded(text[:MAX_CHARACTERS])[:MAX_BYTES]
    State.bytes += min(len(data), COUNTED_BYTES)
    record(kind, data)


def encoded(text):
    return text.encode("utf-8", "backslashreplace")


def record(kind, data):
    write_all(STANDARD_OUTPUT, pack(MARK, kind, now() * 1e6, len(data)) + data)


def is_in_place(descriptor):
    """Whether it leads to the log, as it did at first."""
    try:
        return pipe_of(descriptor) == State.pipes[descriptor - STANDARD_OUTPUT]
    except OSError:
        return False


def are_in_place():
    return is_in_place(STANDARD_OUTPUT) and is_in_place(STANDARD_ERROR)


def takes_errors():
    """Whether what goes to standard error is log entries: not where that alone leads elsewhere."""
    return is_in_place(STANDARD_ERROR) or not is_in_place(STANDARD_OUTPUT)


def pipe_of(descriptor):
    found = look(descriptor)
    return found.st_ino, found.st_dev


def write_all(descriptor, data):
    """Writes all of it. A subprocess may have made the shared pipe non-blocking; a closed one swallows it: False."""
    with lock:
        while data:
            try:
                sent = write(descriptor, data)
            except BlockingIOError:
                sleep(RETRY_S)
                continue
            except OSError:
                return False
            data = data[sent:] if sent < len(data) else None
    return True


def native_flusher():
    """What writes out what libraries in C have printed and still hold, as the end of a process does."""
    libc = ctypes.CDLL(None)
    try:
        return functools.partial(libc.fflush, ctypes.c_void_p.in_dll(libc, NATIVE_OUTPUT))
    except ValueError:
        # Of a C library that has another name for it.
        return lambda: None


flush_native = native_flusher()


def fence():
    """A mark of the same number in both pipes: the runner passes on nothing behind it before all in front of it."""
    if not are_in_place():
        return
    State.fences += 1
    mark = pack(MARK, FENCE, State.fences, 0)
    with lock:
        if write_all(STANDARD_ERROR, mark):
            write_all(STANDARD_OUTPUT, mark)


class Raw(io.RawIOBase):
    """The bytes below `sys.stdout` or `sys.stderr`."""

    mode = "wb"

    def __init__(self, descriptor, name):
        self.descriptor = descriptor
        self.name = name
        self.ends_in_line = False

    def write(self, data):
        data = bytes(data)
        if self.descriptor == STANDARD_OUTPUT or not are_in_place():
            write_all(self.descriptor, data)
        else:
            for at in range(0, len(data), MAX_BYTES):
                record(RAW_ERROR, data[at : at + MAX_BYTES])
        if data:
            self.ends_in_line = data[-1] != 10
        return len(data)

    def writable(self):
        return True

    def fileno(self):
        return self.descriptor

    def close(self):
        """The descriptor stays: other things are written to it."""
        super().close()


def stream(descriptor, name):
    raw = Raw(descriptor, name)
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", newline="\n", write_through=True)


stdout = stream(STANDARD_OUTPUT, "<stdout>")
stderr = stream(STANDARD_ERROR, "<stderr>")
out_raw = stdout.buffer
error_raw = stderr.buffer


@functools.wraps(plain_print)
def print_entry(*values, sep=" ", end="\n", file=None, flush=False):
    """What one call prints is one log entry, when it ends a line."""
    target = sys.stdout if file is None else file
    if end in ("\n", None) and isinstance(sep, str) and not getattr(target, "closed", True):
        if target is stdout and not out_raw.ends_in_line and is_in_place(STANDARD_OUTPUT):
            return keep(INFO, sep.join(map(str, values)))
        if target is stderr and not error_raw.ends_in_line and takes_errors():
            return emit(ERROR, sep.join(map(str, values)))
    return plain_print(*values, sep=sep, end=end, file=file, flush=flush)


def kind_of(file):
    """The level of what goes to the log by one of the two streams, or None for another file."""
    if file is stdout:
        return INFO if is_in_place(STANDARD_OUTPUT) else None
    return ERROR if file is stderr and takes_errors() else None


def repeat(descriptor, data):
    """Writes what was written to this descriptor before, as if it were written now."""
    first, *others = data.split(MARK)
    time_now = struct.pack("<d", now() * 1e6)
    # A fence has its number in place of the time.
    anew = [each if each[:1] == bytes([FENCE]) else each[:1] + time_now + each[9:] for each in others]
    write_all(descriptor, MARK.join([first, *anew]))


def look_anew():
    """The two descriptors lead to the log as they are now."""
    State.pipes = pipe_of(STANDARD_OUTPUT), pipe_of(STANDARD_ERROR)


def install():
    """Puts `print` and the streams in their places. The lock is made anew in forks that process code makes."""
    look_anew()
    builtins.print = print_entry
    sys.stdout = sys.__stdout__ = stdout
    sys.stderr = sys.__stderr__ = stderr
    warm.at_fork(after_in_child=lock._at_fork_reinit)
