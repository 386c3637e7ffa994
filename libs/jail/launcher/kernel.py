"""System calls that Python has no words for, through libc, with as little as possible imported."""

import _ctypes
import posix
import sys

MACHINE = posix.uname().machine
IS_ARM = MACHINE == "aarch64"

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

SIGCHLD = 17
CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2
AT_FDCWD = -100
AT_RECURSIVE = 0x8000
# As MS_*; the recursive call has names of its own for them.
MOUNT_ATTR_RDONLY = 1
MOUNT_ATTR_NOSUID = 2
MOUNT_ATTR_NODEV = 4
MOUNT_ATTR_NOEXEC = 8

# By machine: x86_64 first, then aarch64.
CALLS = {
    "clone": (56, 220),
    "pivot_root": (155, 41),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "capset": (126, 91),
    "mount_setattr": (442, 442),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}


class Int(_ctypes._SimpleCData):
    _type_ = "i"


class Long(_ctypes._SimpleCData):
    _type_ = "l"


class Text(_ctypes._SimpleCData):
    _type_ = "z"


class Byte(_ctypes._SimpleCData):
    _type_ = "c"


class Function(_ctypes.CFuncPtr):
    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = Long


LIBC = _ctypes.dlopen(None, 0)
_syscall = Function(_ctypes.dlsym(LIBC, "syscall"))
_prctl = Function(_ctypes.dlsym(LIBC, "prctl"))
_mount = Function(_ctypes.dlsym(LIBC, "mount"))
_sethostname = Function(_ctypes.dlsym(LIBC, "sethostname"))
_memcpy = Function(_ctypes.dlsym(LIBC, "memcpy"))


def checked(result, what):
    """libc's answer, or its error with the name of what was tried."""
    if result == -1:
        number = _ctypes.get_errno()
        raise OSError(number, "%s: %s" % (what, posix.strerror(number)))
    return result


def syscall(name, *values):
    """Calls the kernel: numbers, bytes (as pointers to them) and None."""
    number = CALLS[name][IS_ARM]
    return checked(_syscall(Long(number), *(Long(each) if type(each) is int else each for each in values)), name)


def repeated(name, values, data):
    """The same call of the kernel for many times, with its last pointer at a bytearray that changes between them."""
    block = type("Block", (_ctypes.Array,), {"_type_": Byte, "_length_": len(data)}).from_buffer(data)
    given = (Long(CALLS[name][IS_ARM]), *(Long(each) for each in values), block, Long(0))
    return lambda: checked(_syscall(*given), name)


def prctl(option, value=0, other=0):
    return checked(_prctl(Int(option), Long(value), Long(other), Long(0), Long(0)), "prctl %d" % option)


def address(data):
    """Where bytes lie; they must be kept while that is used."""
    return int.from_bytes(memoryview(Text(data)).tobytes(), "little")


def clone(flags):
    """A fork into namespaces of its own: the child's process id, or 0 in the child."""
    return syscall("clone", flags | SIGCHLD, 0, 0, 0, 0)


def mount(source, target, kind, flags, options=""):
    names = [each.encode() for each in (source, target, kind)]
    result = _mount(*names, Long(flags), options.encode() or None)
    checked(result, "mount %s on %s" % (source, target))


def bind(source, target):
    mount(source, target, "", MS_BIND | MS_REC)


def protect(target, attributes):
    """Sets attributes on a mount and all below it."""
    # set, clear, propagation, userns_fd
    packed = attributes.to_bytes(8, "little") + bytes(24)
    syscall("mount_setattr", AT_FDCWD, target.encode(), AT_RECURSIVE, packed, len(packed))


def pivot_here():
    """Makes the working directory the root, and lets go of the former one."""
    syscall("pivot_root", b".", b".")
    syscall("umount2", b".", MNT_DETACH)
    posix.chdir("/")


def set_host_name(name):
    checked(_sethostname(name.encode(), Long(len(name))), "sethostname")


def be_shown_as(arguments):
    """In place of its own arguments, as far as those have room: in lists of processes, and to itself in /proc."""
    size = sum(len(each.encode(errors="surrogateescape")) + 1 for each in sys.orig_argv)
    first = Long.from_address(_ctypes.dlsym(LIBC, "program_invocation_name")).value
    shown = b"".join(each.encode(errors="surrogateescape") + b"\0" for each in arguments)[: size - 1]
    _memcpy(Long(first), shown.ljust(size, b"\0"), Long(size))


def drop_bounding_capabilities():
    """No program that this one turns into gets a capability."""
    try:
        for capability in range(64):
            prctl(PR_CAPBSET_DROP, capability)
    except OSError:
        pass  # There are no more, or none that may be dropped; no_new_privs keeps them from mattering.


def drop_capabilities():
    """Gives up all capabilities, for good."""
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    drop_bounding_capabilities()
    # _LINUX_CAPABILITY_VERSION_3, this process; effective, permitted and inheritable, twice.
    syscall("capset", (0x20080522).to_bytes(4, "little") + bytes(4), bytes(24))
