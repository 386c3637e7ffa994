"""
The group that a child has for itself when the kernel shares processors: whatever it starts is in it, too, however many
they are and whatever sessions they make. The service says what weight it has.
"""

import posix
import time

from root import write

LONGEST_PAUSE_S = 0.03


def make(prefix, gives_way):
    """Its path; None where the machine has none, or makes no more."""
    if prefix is None:
        return None
    path = "%s%d" % (prefix, posix.getpid())
    try:
        posix.mkdir(path)
        if gives_way:
            write(path + "/cpu.idle", "1")
        return path
    except OSError:
        return None


def join(group, pid=0):
    """As a whole process; its own without a number. Without a group it is in that of its session, where there are such."""
    if group is None:
        return
    try:
        write(group + "/cgroup.procs", str(pid))
    except OSError:
        pass  # It is weighed as all others are.


def remove(group):
    """When all that was in it has ended. The last of them may be in it for a moment more."""
    pause = 0.0005
    while group is not None and pause < LONGEST_PAUSE_S:
        try:
            return posix.rmdir(group)
        except OSError:
            time.sleep(pause)
            pause *= 2
    return None  # What is left of groups the service removes.
