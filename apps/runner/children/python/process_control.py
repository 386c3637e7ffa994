"""What the kernel keeps about a process, set through prctl; where there is no such call, nothing is set."""

import os
import signal

PDEATHSIG = 1
DUMPABLE = 4
CHILD_SUBREAPER = 36
GET_TID_ADDRESS = 40

try:
    import _ctypes

    class Int(_ctypes._SimpleCData):
        _type_ = "i"

    class Function(_ctypes.CFuncPtr):
        _flags_ = _ctypes.FUNCFLAG_CDECL
        _restype_ = Int

    prctl = Function(_ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl"))
except (ImportError, OSError):

    def prctl(*_):
        return -1

# The same as the signal of a child's end tells plain waits that it is none of theirs.
APART = signal.SIGUSR1
_IS_ARM = os.uname().machine == "aarch64"
CLONE, TGKILL = (220, 131) if _IS_ARM else (56, 234)
SET_AND_CLEAR_NUMBER = 0x01200000
CLONE_PARENT = 0x00008000


def adopt_orphans():
    """Whoever a descendant leaves behind comes to this process."""
    prctl(CHILD_SUBREAPER, 1, 0, 0, 0)


def leave_orphans():
    """They go to the process above that adopts them."""
    prctl(CHILD_SUBREAPER, 0, 0, 0, 0)


def hide():
    """Nobody of the same user reads this process's memory and descriptors."""
    prctl(DUMPABLE, 0, 0, 0, 0)


def show():
    prctl(DUMPABLE, 1, 0, 0, 0)


def end_with_parent():
    prctl(PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def fork_apart():
    """Forks a child that only waits with `confine.WALL` see; its orphans, and all that they leave, are seen by any."""
    return _cloner(APART)()


def beside_forker():
    """
    What forks a child of this process's parent, which sees it as it sees this process. The handlers that libraries have given
    the C library for forks are not called. Wants `knows_number`.
    """
    return _cloner(CLONE_PARENT | APART)


def knows_number():
    """Whether a fork past the C library gets the number of its main thread right."""
    return _number_at() != 0


def children():
    """The numbers of this process's children; None where the kernel does not tell."""
    try:
        with open("/proc/thread-self/children", "rb") as listed:
            return {int(each) for each in listed.read().split()}
    except OSError:
        return None


def _cloner(flags):
    """All that a fork needs is made ahead: what is written around it is copied, page by page."""
    import ctypes

    python = ctypes.pythonapi
    before, in_child, in_parent = python.PyOS_BeforeFork, python.PyOS_AfterFork_Child, python.PyOS_AfterFork_Parent
    # Which does not give up Python's lock around the call.
    call = ctypes.PyDLL(None).syscall
    call.restype = ctypes.c_long
    number_at = _number_at()
    flags |= SET_AND_CLEAR_NUMBER if number_at else 0
    places = (0, number_at) if _IS_ARM else (number_at, 0)
    values = tuple(map(ctypes.c_long, (CLONE, flags, 0, 0, *places)))

    def clone():
        before()
        pid = call(*values)
        if pid == 0:
            in_child()
        else:
            in_parent()
        if pid < 0:
            raise BlockingIOError("no process can be made")
        return pid

    return clone


def _number_at():
    """Where the C library keeps the number of the main thread, which a fork past it would leave as it is; 0 where it's unknown."""
    import ctypes

    address = ctypes.c_void_p()
    if prctl(GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) != 0 or not address.value:
        return 0
    return address.value if ctypes.c_int.from_address(address.value).value == os.getpid() else 0


def has_thread(pid, numbers):
    """Whether a process has a thread of one of these numbers."""
    import ctypes

    call = ctypes.CDLL(None).syscall
    call.argtypes = [ctypes.c_long] * 4
    return any(call(TGKILL, pid, number, 0) == 0 for number in numbers)
