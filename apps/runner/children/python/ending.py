"""Ends everything that a run has started. Whoever it has left comes to this process, which is their subreaper."""

import os
import signal
import time

try:
    import confine
except ImportError:
    confine = None

LAST_RESORT_S = 5.0


def in_own_namespace():
    """Whether every other process that can be seen belongs to this child: its parent is then the first of all."""
    return os.getppid() == 1


def end_all(kill_others):
    """Kills every descendant and collects it; false when some could not be ended in time."""
    until = time.monotonic() + LAST_RESORT_S
    while reap():
        if time.monotonic() > until:
            return False
        kill_others()
        time.sleep(0.0005)
    return True


def reap():
    """Collects whoever has ended; whether any is left."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return True
        except ChildProcessError:
            return False


def killer():
    """How others are killed here: all at once where nobody else is in reach, else by looking for them."""
    given = getattr(confine, "end_others", None)
    if given is not None:
        return given
    return kill_all_in_reach if in_own_namespace() else kill_descendants


def kill_all_in_reach():
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass  # They have just gone.


def kill_descendants():
    """First halts all, so that nothing forks away meanwhile, then kills all."""
    halted = set()
    while True:
        running = [pid for pid in descendants() if pid not in halted]
        if not running:
            break
        for pid in running:
            send(pid, signal.SIGSTOP)
            halted.add(pid)
    for pid in halted:
        send(pid, signal.SIGKILL)


def descendants():
    """All processes below this one that still run."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            state, parent = state_and_parent(name)
            if state != "Z":
                children.setdefault(parent, []).append(int(name))
    found, open_ends = [], [os.getpid()]
    while open_ends:
        below = children.get(open_ends.pop(), [])
        found.extend(below)
        open_ends.extend(below)
    return found


def state_and_parent(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            text = stat.read()
    except OSError:
        return "Z", 0
    fields = text[text.rindex(b")") + 2 :].split(b" ", 2)
    return fields[0].decode(), int(fields[1])


def send(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass  # It has just gone.
