"""
Keeps a run from the process that forked it, and ends what a run has left. For the children that run Python: the process
that forks runs calls `prepare` once and `end_others` after each run, a fork `confine_run` before it reads a frame.
"""

import ctypes
import errno
import os
import signal
import struct
import time

from descendants import descendants, send
from process_control import CLONE, CLONE_PARENT, prctl

# The same numbers on x86_64 and aarch64.
LANDLOCK_CREATE_RULESET = 444
LANDLOCK_RESTRICT_SELF = 446
SCOPES = 3
SCOPES_FROM = 6
HOST_NAME = "run"
LAST_RESORT_S = 5.0
# Waits also for those that don't end with SIGCHLD.
WALL = 0x40000000

PR_SET_NO_NEW_PRIVS = 38
PR_GET_SECCOMP = 21
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2
# kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_open
_IS_ARM = os.uname().machine == "aarch64"
SIGNALS = (129, 130, 131, 138, 240, 434) if _IS_ARM else (62, 200, 234, 129, 297, 434)
# By a descriptor, which may be that of any process.
PIDFD_SEND_SIGNAL = 424
# A pipe or socket sends signals to its owner; these name one in memory, where a filter can't look.
FCNTL, IOCTL = (25, 29) if _IS_ARM else (72, 16)
F_SETOWN, F_SETOWN_EX, FIOSETOWN, SIOCSPGRP = 8, 15, 0x8901, 0x8902
LOAD, JUMP_EQUAL, JUMP_SET, RETURN = 0x20, 0x15, 0x45, 0x06
NUMBER_AT, FIRST_ARGUMENT_AT, SECOND_ARGUMENT_AT, THIRD_ARGUMENT_AT = 0, 16, 24, 32
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_parent = None
_has_own_processes = False
_ruleset = None
_filter = None
_is_isolated = True


def prepare(has_domains):
    """
    Looks what is to be had here, and makes the ruleset, or the filter, that all forks share. `has_domains`: forks have
    Landlock domains of their own where the kernel has such; each copies the rules of those above, which takes 15 ms and
    4 MB where they are of many ports.
    """
    global _parent, _has_own_processes, _is_isolated
    _parent = os.getppid()
    _has_own_processes = _parent == 1 and os.uname().nodename == HOST_NAME
    _is_isolated = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0
    shield()
    if has_domains:
        _prepare_ruleset()


def _prepare_ruleset():
    global _ruleset
    if _syscall(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), 1) < SCOPES_FROM:
        return
    attributes = (ctypes.c_uint64 * 3)(0, 0, SCOPES)
    ruleset = _syscall(LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(24), 0)
    if ruleset < 0:
        return
    os.set_inheritable(ruleset, False)
    _ruleset = ruleset


def confine_run():
    """
    From now on this process, and all below it, can't signal or trace any that is not below it, nor reach its abstract
    sockets. Without a domain of its own it leads a session of its own, and a filter keeps its signals from the process
    that prepared this; that one must not be dumpable, so that it can't be traced. False without either. Where there is
    no isolation around both, there is none between them.
    """
    if not _is_isolated:
        return False
    if _ruleset is not None and _syscall(LANDLOCK_RESTRICT_SELF, _ruleset, 0) == 0:
        return True
    if os.getsid(0) != os.getpid():
        os.setsid()
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, _filter[0], 0, 0) == 0


def can_filter():
    """Whether `bear_no_siblings` holds here: behind an isolation with a filter of its own."""
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0


def bear_no_siblings():
    """
    From now on neither this process nor any below it makes children of the process above it, by `clone`: the isolation
    refuses `clone3`. False where it can't be kept from it.
    """
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, _no_siblings[0], 0, 0) == 0


def keep_ruleset(number):
    """In a fork whose own forks are to be confined, too: it is found by this descriptor from now on."""
    global _ruleset
    if _ruleset is not None:
        os.dup2(_ruleset, number, False)
        _ruleset = number


def shield():
    """Forks of this process are kept from it as from the process that prepared this."""
    global _filter
    _filter = _program(_filter_of([os.getpid(), -1, -os.getpgrp()]))


def _filter_of(pids):
    """A seccomp filter that refuses signals to these, at once and as owners of descriptors."""
    # Each block begins with a load, and its jumps lead to one that comes later, by its name.
    blocks = {
        "call": [
            (NUMBER_AT, None),
            *((number, "first") for number in SIGNALS),
            (PIDFD_SEND_SIGNAL, "refuse"),
            (FCNTL, "fcntl"),
            (IOCTL, "ioctl"),
        ],
        "fcntl": [(SECOND_ARGUMENT_AT, None), (F_SETOWN, "third"), (F_SETOWN_EX, "refuse")],
        "ioctl": [(SECOND_ARGUMENT_AT, None), (FIOSETOWN, "refuse"), (SIOCSPGRP, "refuse")],
        "third": [(THIRD_ARGUMENT_AT, None), *((pid, "refuse") for pid in pids)],
        "first": [(FIRST_ARGUMENT_AT, None), *((pid, "refuse") for pid in pids)],
    }
    begins, at = {}, 0
    for name, block in blocks.items():
        begins[name], at = at, at + len(block) + 1
    begins["refuse"] = at
    steps = []
    for block in blocks.values():
        for value, to in block:
            steps.append((LOAD, 0, 0, value) if to is None else (JUMP_EQUAL, begins[to] - len(steps) - 1, 0, value))
        steps.append((RETURN, 0, 0, ALLOW))
    steps.append((RETURN, 0, 0, REFUSE))
    return steps


def _program(steps):
    """Steps in the form that the kernel takes, and as they are held: that form has only their address."""
    packed = b"".join(struct.pack("HBBI", code, yes, no, value & 0xFFFFFFFF) for code, yes, no, value in steps)
    held = ctypes.create_string_buffer(packed, len(packed))
    return struct.pack("HxxxxxxP", len(steps), ctypes.addressof(held)), held


_no_siblings = _program(
    [
        (LOAD, 0, 0, NUMBER_AT),
        (JUMP_EQUAL, 0, 2, CLONE),
        (LOAD, 0, 0, FIRST_ARGUMENT_AT),
        (JUMP_SET, 1, 0, CLONE_PARENT),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE),
    ]
)


def end_others():
    """Ends every process that this one's forks have left, however they detached themselves. They are to be reaped."""
    if _may_end_all():
        try:
            os.kill(-1, signal.SIGKILL)
        except OSError:
            pass  # There are none.
        return
    while True:
        others = descendants(os.getpid())
        if not others:
            return
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in others:
                send(pid, number)


def _may_end_all():
    """In a jail there is nobody else; where the isolation keeps signals in, they reach only what is below."""
    if _has_own_processes:
        return True
    try:
        os.kill(_parent, 0)
        return False
    except PermissionError:
        # The launcher is of the same account, so it was the isolation that refused.
        return os.getppid() == _parent
    except OSError:
        return False


def _syscall(number, *values):
    return _libc.syscall(ctypes.c_long(number), *values)


def end_all():
    """
    Kills every descendant and collects it; false when some could not be ended in time. Whoever a run has left comes to
    this process, which is their subreaper.
    """
    until = time.monotonic() + LAST_RESORT_S
    while reap(WALL):
        if time.monotonic() > until:
            return False
        end_others()
        time.sleep(0.0005)
    return True


def reap(which=0):
    """Collects whoever has ended, and with `WALL` those that were forked apart, too; whether any of them is left."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG | which)[0] == 0:
                return True
        except ChildProcessError:
            return False
