"""What a run takes, and what of it it waits: for a processor, and for anything else."""

import os
import time


class Meter:
    """Times in seconds: `begin`, `end` and `reaped` once for each run, then `report`."""

    def __init__(self):
        self.own = of_process("self")
        self.since = 0
        self.took = 0
        self.before = None
        self.after = None
        self.used = 0

    def begin(self, fork):
        self.since = time.monotonic()
        self.before = self.scheduled(fork)

    def end(self, fork):
        """While the fork is there; None when it has ended by itself."""
        self.took = time.monotonic() - self.since
        self.after = None if fork is None else self.scheduled(fork)

    def reaped(self, usage):
        """All that the fork has had of processors, as is known when it is gone."""
        self.used = usage.ru_utime + usage.ru_stime

    def report(self):
        """Microseconds: what the run took and, where the kernel tells, for how much of it it waited for a processor, and for else."""
        if self.before is None or self.after is None:
            return b"%d" % (self.took * 1e6)
        held_up = self.after[1] - self.before[1]
        waited = max(0, self.took - held_up - (self.used - self.before[0]))
        return b"%d %d %d" % (self.took * 1e6, held_up * 1e6, waited * 1e6)

    def scheduled(self, fork):
        """
        What a fork has had of processors, as of its last pause, and has waited for them, as has this process, which looks
        after it; None where the kernel does not tell.
        """
        file = of_process(fork)
        if file is None:
            return None
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
