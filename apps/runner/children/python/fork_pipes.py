"""The pipes to and from the fork at hand, which may not read, and may say anything."""

import os
import select

import frames

SHORTEST_FROM_FORK = 5


class ForkPipes:
    """Once for each fork: `open`, then `become_channels` in the fork and `keep` in its parent, then `close` there."""

    def __init__(self, poller):
        self.poller = poller
        self.pending = bytearray()

    def open(self):
        self.read_request, self.to_fork = os.pipe()
        self.from_fork, self.write_answer = os.pipe()

    def become_channels(self, highest, kept=()):
        """All other descriptors up to the `highest` that its parent has beside these are closed, but a range that is `kept`."""
        os.dup2(self.read_request, frames.IN, inheritable=False)
        os.dup2(self.write_answer, frames.OUT, inheritable=False)
        own = (self.to_fork, self.from_fork, self.read_request, self.write_answer)
        first, end = kept or (frames.OUT + 1, frames.OUT + 1)
        os.closerange(frames.OUT + 1, first)
        os.closerange(end, max(highest, *own, end) + 8)

    def keep(self, longest):
        """Frames of more than `longest` bytes are not taken."""
        os.close(self.read_request)
        os.close(self.write_answer)
        os.set_blocking(self.to_fork, False)
        self.output = frames.Reader(self.from_fork, SHORTEST_FROM_FORK, longest)
        self.poller.register(self.from_fork, select.POLLIN)

    def send(self, frame):
        self.pending += frames.LENGTH.pack(len(frame)) + frame
        self.send_pending()

    def send_pending(self):
        """Never waits for a fork that does not read."""
        try:
            while self.pending:
                del self.pending[: os.write(self.to_fork, self.pending)]
        except BlockingIOError:
            return self.poller.register(self.to_fork, select.POLLOUT)
        except BrokenPipeError:
            self.pending.clear()  # Its death is noticed on its own.
        self.forget(self.to_fork)

    def fill(self):
        """Reads what the fork has said, at least a byte; false when nothing will come any more."""
        if self.output.fill():
            return True
        self.forget(self.from_fork)
        return False

    def take(self):
        """The next whole frame, or None when more has to be read first. Throws `frames.TooLong`."""
        return self.output.take()

    def has_words(self):
        """Whether something is unread, or the fork has closed its end."""
        return bool(select.select([self.from_fork], [], [], 0)[0])

    def close(self):
        for descriptor in (self.to_fork, self.from_fork):
            self.forget(descriptor)
            os.close(descriptor)
        self.pending.clear()

    def forget(self, descriptor):
        try:
            self.poller.unregister(descriptor)
        except KeyError:
            pass  # It was not waited for.
