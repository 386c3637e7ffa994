"""Waits for a child and all below it, and ends them when told to."""

import _signal
import posix
import select
import time

from descendants import descendants, send

CONTROL = 5
GRACE_S = 1.0
LATE_S = 5.0


def wake_on_signals():
    """A descriptor that is readable whenever a signal has come, so that one poll waits for signals and orders alike."""
    reader, writer = posix.pipe2(posix.O_NONBLOCK | posix.O_CLOEXEC)
    _signal.set_wakeup_fd(writer)
    for number in (_signal.SIGCHLD, _signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP):
        _signal.signal(number, lambda *_: None)
    return reader


def sleep_through_signals():
    """In a child of a process that woke on signals."""
    _signal.set_wakeup_fd(-1)
    for number in (_signal.SIGCHLD, _signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP):
        _signal.signal(number, _signal.SIG_DFL)


def be_first_out_of_memory(pid="self"):
    """Told by somebody with more rights, a process can't take it back."""
    try:
        score = posix.open("/proc/%s/oom_score_adj" % pid, posix.O_WRONLY)
        posix.write(score, b"1000")
        posix.close(score)
    except OSError:
        pass  # Without it only the kernel's choice of a victim is less sure.


def watch(child, wake, is_jail, late):
    """
    Waits until the child and all below are gone, ending them when told to; returns the child's wait status. The first
    process of a jail takes all that is in it along; what is beside it is a helper of the jail. `late` is called where they
    take long to end.
    """
    poller = select.poll()
    poller.register(wake, select.POLLIN)
    poller.register(CONTROL, select.POLLIN)
    status, deadline = None, None
    while True:
        wait_ms = None if deadline is None else max(0, (deadline - time.monotonic()) * 1000)
        order = orders(poller, wake, wait_ms)
        ended, any_left = reap(child)
        status = status if ended is None else ended
        if not any_left:
            return status
        if order == "T" and deadline is None:
            deadline = time.monotonic() + GRACE_S
            for pid in descendants(child if is_jail else posix.getpid()):
                send(pid, _signal.SIGTERM)
        is_time = deadline is not None and time.monotonic() >= deadline
        if order == "K" or is_time or (status is not None and (is_jail or deadline is None)):
            ended, any_left = kill_jail(child, wake) if is_jail and status is None else (None, True)
            if any_left:
                ended = kill_all(child, late) or ended
            return status if ended is None else ended


def orders(poller, wake, wait_ms):
    """The next order from the service or by signal, or None when only a child has ended or the time is over."""
    order = None
    for descriptor, _ in poller.poll(wait_ms):
        if descriptor == wake:
            signals = posix.read(wake, 256)
            if any(number != _signal.SIGCHLD for number in signals):
                order = order or "T"
        else:
            word = control_word()
            if word == b"":
                poller.unregister(CONTROL)
            order = "K" if b"K" in word else order or "T"
    return order


def control_word():
    try:
        return posix.read(CONTROL, 16)
    except OSError:
        return b""


def reap(child):
    """Collects whoever has ended: the child's wait status when it is among them, and whether anyone is left."""
    status = None
    while True:
        try:
            pid, ended = posix.waitpid(-1, posix.WNOHANG)
        except ChildProcessError:
            return status, False
        if pid == 0:
            return status, True
        if pid == child:
            status = ended


def kill_jail(first, wake):
    """The kernel ends all that is in a jail with its first process, which is over when they are. Returns as `reap` does."""
    send(first, _signal.SIGKILL)
    poller = select.poll()
    poller.register(wake, select.POLLIN)
    deadline = time.monotonic() + LATE_S
    while True:
        status, any_left = reap(first)
        left_ms = (deadline - time.monotonic()) * 1000
        if status is not None or not any_left or left_ms <= 0:
            return status, any_left
        if poller.poll(left_ms):
            posix.read(wake, 256)


def kill_all(child, late):
    """
    Ends everything below: halts all, so that nothing forks away meanwhile, then kills all, until none is left, whatever
    time it takes: what is left halted would be there for ever. Calls `late` once where it takes long.
    """
    status = None
    late_at = time.monotonic() + LATE_S
    pause = 0.001
    while True:
        halted = set()
        while True:
            running = [pid for pid in descendants(posix.getpid()) if pid not in halted]
            if not running:
                break
            for pid in running:
                send(pid, _signal.SIGSTOP)
                halted.add(pid)
        for pid in halted:
            send(pid, _signal.SIGKILL)
        ended, any_left = reap(child)
        status = status if ended is None else ended
        if not any_left:
            return status
        if time.monotonic() >= late_at:
            late()
            late_at = float("inf")
        time.sleep(pause)
        pause = min(pause * 2, 0.1)
