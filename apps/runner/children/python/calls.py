"""Calls of a run to the service, from any thread: each waits for its own answer, and one of them reads for all."""

import json
import struct
import threading

import frames

MAX_OPEN = 1000
LENGTH = struct.Struct("<I")


class Calls:
    """The calls of the run whose number is in `run`; answers come through `reader`."""

    def __init__(self, reader):
        self.run = 0
        self.reader = reader
        self.last = 0
        self.open = 0
        self.answers = {}
        self.is_read = False
        self.changed = threading.Condition(threading.Lock())

    def ask(self, call, body=None):
        """Sends a call, the bytes of its body behind it, and waits: the answer's header, and its value as JSON text or nothing."""
        with self.changed:
            if self.open >= MAX_OPEN:
                raise RuntimeError(f"More than {MAX_OPEN} calls are open at once")
            number = self.last + 1
            payload = json.dumps({"number": number, **call}).encode()
            if body is not None:
                payload += b"\n" + body
            self.last = number
            self.open += 1
            frames.write_all(frames.OUT, frames.upward(frames.CALL, self.run, payload))
        try:
            return self.wait_for(number)
        finally:
            with self.changed:
                self.open -= 1

    def wait_for(self, number):
        while True:
            with self.changed:
                while number not in self.answers and self.is_read:
                    self.changed.wait()
                if number in self.answers:
                    return self.answers.pop(number)
                self.is_read = True
            try:
                header, value = self.next()
            except BaseException:
                # Another may go on reading where this one was interrupted.
                with self.changed:
                    self.is_read = False
                    self.changed.notify_all()
                raise
            with self.changed:
                self.answers[header["number"]] = header, value
                self.is_read = False
                self.changed.notify_all()

    def next(self):
        frame = self.reader.next()
        if frame is None or frame[0] != frames.ANSWER:
            raise ConnectionError("The runner has gone")
        end = 5 + LENGTH.unpack_from(frame, 1)[0]
        return json.loads(frame[5:end]), frame[end:]
