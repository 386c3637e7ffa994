"""
What a run takes, and what of it it waits: for a processor, and for anything else. What its fork has had of processors and
memory is the kernel's word: the fork itself is not asked.
"""

import os
import time

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
PROCESSORS = os.cpu_count() or 1
MOST_TEXT = 4096


class Meter:
    """Times in seconds: `begin`, `used_by`, `end` and `reaped` once for each run, then `report`."""

    def __init__(self):
        self.own = of_process("self")
        self.file = None
        self.since = 0
        self.took = 0
        self.before = None
        self.after = None
        self.used = 0
        self.peak = 0

    def begin(self, fork):
        self.since = time.monotonic()
        self.used = self.peak = 0
        self.close()
        self.file = of_process(fork)
        self.before = self.scheduled()

    def end(self, fork):
        """While the fork is there; None when it has ended by itself."""
        self.took = time.monotonic() - self.since
        self.after = None if fork is None else self.scheduled()
        self.close()

    def close(self):
        if self.file is not None:
            os.close(self.file)
            self.file = None

    def reaped(self, usage):
        """All that the fork has had of processors, as is known when it is gone."""
        self.used = usage.ru_utime + usage.ru_stime
        self.peak = usage.ru_maxrss

    def used_by(self, fork):
        """
        Microseconds on processors of a run and of what it waited for, and KiB that its process held at most. `fork` is None
        where it has ended by itself.
        """
        if fork is None:
            return b"%d %d" % (self.used * 1e6, self.peak)
        had = 0 if self.file is None else times_in(self.file)[0]
        # In less time than this nobody, however many they are, has had a tick.
        if (time.monotonic() - self.since) * PROCESSORS >= TICK_S:
            fields = text_of("/proc/%d/stat" % fork).rpartition(b")")[2].split()
            had = max(had, sum(map(int, fields[11:15])) * TICK_S)
        return b"%d %d" % (had * 1e6, peak_in(text_of("/proc/%d/status" % fork)))

    def report(self):
        """Microseconds: what the run took and, where the kernel tells, for how much of it it waited for a processor, and for else."""
        if self.before is None or self.after is None:
            return b"%d" % (self.took * 1e6)
        held_up = self.after[1] - self.before[1]
        waited = max(0, self.took - held_up - (self.used - self.before[0]))
        return b"%d %d %d" % (self.took * 1e6, held_up * 1e6, waited * 1e6)

    def scheduled(self):
        """
        What the fork has had of processors, as of its last pause, and has waited for them, as has this process, which looks
        after it; None where the kernel does not tell.
        """
        if self.file is None:
            return None
        had, waited = times_in(self.file)
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


def text_of(path):
    """Of a short file of the kernel's; nothing where it can't be read."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(file, MOST_TEXT)
    except OSError:
        return b""
    finally:
        os.close(file)


def peak_in(status):
    # At the beginning of a line: the name of a process, which it may choose, has no line ends here.
    at = status.find(b"\nVmHWM:")
    return 0 if at < 0 else int(status[at + 7 : status.index(b"kB", at)])
