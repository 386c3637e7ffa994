"""What the kernel keeps about a process, set through prctl; where there is no such call, nothing is set."""

import signal

PDEATHSIG = 1
DUMPABLE = 4
CHILD_SUBREAPER = 36

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


def adopt_orphans():
    """Whoever a descendant leaves behind comes to this process."""
    prctl(CHILD_SUBREAPER, 1, 0, 0, 0)


def hide():
    """Nobody of the same user reads this process's memory and descriptors."""
    prctl(DUMPABLE, 0, 0, 0, 0)


def show():
    prctl(DUMPABLE, 1, 0, 0, 0)


def end_with_parent():
    prctl(PDEATHSIG, signal.SIGKILL, 0, 0, 0)
