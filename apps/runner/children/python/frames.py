"""Frames on pipes: a length of four bytes (little endian), a type byte, and a payload; frames towards the runner have
the number of their run before the payload."""

import os
import struct

# As in src/children/frames.ts of the runner.
PROGRAM = 80
SURROUNDINGS = 83
RUN = 82
ANSWER = 65
HELLO = 72
VALUE = 86
FAILURE = 69
CALL = 67
CLEAN = 75
UNCLEAN = 88
TEMPLATE = 84
USED = 85
# Between a fork and its parent alone: the program's code.
COMPILED = 80

# As the runner knows its child, and as a fork knows its parent.
IN = 3
OUT = 4

LENGTH = struct.Struct("<I")
HEAD_WITH_RUN = struct.Struct("<IBI")
# Most of what is said is short, and memory for more would be new to each fork.
READ_BYTES = 4 * 1024
READ_MORE_BYTES = 64 * 1024

read = os.read
write = os.write


def upward(kind, run, payload):
    """A frame towards the runner."""
    return HEAD_WITH_RUN.pack(5 + len(payload), kind, run) + payload


def write_all(descriptor, frame):
    sent = write(descriptor, frame)
    while sent < len(frame):
        frame = memoryview(frame)[sent:]
        sent = write(descriptor, frame)


class TooLong(Exception):
    """A frame is longer, or shorter, than any may be; the argument is its length."""


class Reader:
    """Cuts what comes from a descriptor into frames of between `shortest` and `longest` bytes without their length."""

    def __init__(self, descriptor, shortest=1, longest=None):
        self.descriptor = descriptor
        self.shortest = shortest
        self.longest = longest
        self.held = bytearray()
        self.bytes = READ_BYTES

    def fill(self):
        """Reads what is there, at least a byte; false when nothing will come any more."""
        chunk = read(self.descriptor, self.bytes)
        self.held += chunk
        self.bytes = READ_MORE_BYTES if len(chunk) == self.bytes else READ_BYTES
        return bool(chunk)

    def take(self):
        """The next whole frame without its length, or None when more has to be read first."""
        held = self.held
        if len(held) < 4:
            return None
        (length,) = LENGTH.unpack_from(held)
        if length < self.shortest or (self.longest is not None and length > self.longest):
            raise TooLong(length)
        if len(held) < 4 + length:
            return None
        frame = bytes(memoryview(held)[4 : 4 + length])
        del held[: 4 + length]
        return frame

    def next(self):
        """The next frame, waited for; None when the other side has closed."""
        while True:
            frame = self.take()
            if frame is not None or not self.fill():
                return frame
