"""What a run takes, and what of it it waits: for a processor, and for anything else."""

import os
import time


class Meter:
    """Times in seconds. `used` is set from outside: all that the fork has had of processors, known when it is reaped."""

    def __init__(self):
        self.own = of_process("self")
        self.since = 0
        self.took = 0
        self.held_up = None
        self.had = 0
        self.used = 0

    def begin(self, fork):
        self.since = time.monotonic()
        self.had, self.held_up = self.scheduled(fork)

    def end(self, fork):
        """While the fork is there; None when it has ended by itself."""
        self.took = time.monotonic() - self.since
        _, held_up = (0, None) if fork is None else self.scheduled(fork)
        known = held_up is not None and self.held_up is not None
        self.held_up = held_up - self.held_up if known else None

    def told(self):
        """Microseconds: what the run took and, where the kernel tells, for how much of it it waited for a processor, and for else."""
        if self.held_up is None:
            return b"%d" % (self.took * 1e6)
        waited = max(0, self.took - self.held_up - (self.used - self.had))
        return b"%d %d %d" % (self.took * 1e6, self.held_up * 1e6, waited * 1e6)

    def scheduled(self, fork):
        """
        What a fork has had of processors, as of its last pause, and has waited for them, as has this process, which looks
        after it; None for that where the kernel does not tell.
        """
        file = of_process(fork)
        if file is None:
            return 0, None
        had, waited = times_in(file)
        os.close(file)
        return had, waited + times_in(self.own)[1]


def of_process(pid):
    """Its file of the kernel's on that; None where there is none."""
    try:
        return os.open("/proc/%s/schedstat" % pid, os.O_RDONLY)
    except OSError:
        return None


def times_in(file):
    had, waited, _ = os.pread(file, 128, 0).split()
    return int(had) / 1e9, int(waited) / 1e9
