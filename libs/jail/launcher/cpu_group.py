"""
The group that a child has for itself when the kernel shares processors: whatever it starts is in it, too, however many
they are and whatever sessions they make. The service says what weight it has, and reads what time it took, for which the
kernel may have a tree of its own: so a group is a list of paths, the one with the weight first.
"""

import posix
import time

from root import write

LONGEST_PAUSE_S = 1.0


def make(prefixes, has_low_priority):
    """None where the machine has none, or makes no more."""
    if prefixes is None:
        return None
    paths = ["%s%d" % (prefix, posix.getpid()) for prefix in prefixes]
    try:
        for path in paths:
            posix.mkdir(path)
        if has_low_priority:
            write(paths[0] + "/cpu.idle", "1")
        return paths
    except OSError:
        remove(paths)
        return None


def join(group, pid=0):
    """As a whole process; its own without a number. Without a group it is in that of its session, where there are such."""
    for path in group or ():
        try:
            write(path + "/cgroup.procs", str(pid))
        except OSError:
            pass  # It is weighed as all others are.


def used_us(group):
    """What all that are or were in it had of processors; -1 where it does not tell."""
    for name, key, divisor in (("cpu.stat", b"usage_usec ", 1), ("cpuacct.usage", b"", 1000)):
        try:
            file = posix.open(group[-1] + "/" + name, posix.O_RDONLY)
        except OSError:
            continue
        try:
            text = posix.read(file, 4096)
        finally:
            posix.close(file)
        if key in text:
            return int(text[text.index(key) + len(key) :].split()[0]) // divisor
    return -1


def remove(group):
    """When all that was in it has ended. The last of them may be in it for a moment more."""
    left, pause = group or (), 0.0005
    while (left := [path for path in left if not removed(path)]) and pause < LONGEST_PAUSE_S:
        time.sleep(pause)
        pause *= 2
    # What is left of groups the service removes.


def removed(path):
    try:
        posix.rmdir(path)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True
