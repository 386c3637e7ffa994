"""
The isolation level `namespaces`: processes, files (root.py), names and identity of a child's own. Its first process is this
program, which makes the jail, starts the child in it and takes everything along when the child ends. The launcher stays
outside.
"""

import _signal
import posix
import select

import cpu_group
import kernel
import network
from processes import be_first_out_of_memory, sleep_through_signals
from root import INSIDE_ID, bound_namespaces, make_root, write

NAMESPACES = (
    kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID | kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
)
# No account, container or service manager uses numbers from here on; a launcher's own number makes one for its child.
FIRST_UID = 0x70000000


def outside_id():
    """Who the child is outside: as root a number of its own, else who we are."""
    return FIRST_UID + posix.getpid() if posix.getuid() == 0 else posix.getuid()


def start(scratch, isolation, group, become):
    """Makes a jail on the empty directory, and runs `become` in it; gives its first process and where that reports."""
    go, may_go = posix.pipe2(posix.O_CLOEXEC)
    result, report = posix.pipe2(posix.O_CLOEXEC)
    is_own_network = isolation["network"] != "host"
    leads_out = isolation["network"] == "own"
    launcher = posix.getpid()
    is_root_inside = is_root_at_first(isolation)
    first = kernel.clone(NAMESPACES | (kernel.CLONE_NEWNET if is_own_network else 0))
    if first == 0:
        posix.close(may_go)
        posix.close(result)
        be_first(scratch, isolation, become, go, report, launcher, is_root_inside)
    posix.close(go)
    posix.close(report)
    map_identity(first, is_root_inside)
    be_first_out_of_memory(first)
    cpu_group.join(group, first)
    if leads_out:
        network.connect(first, scratch, isolation)
    # The other end stays open as long as this process lives.
    posix.write(may_go, b"G")
    return first, result


def is_root_at_first(isolation):
    """
    Whether a jail that an ordinary account makes has one number alone, and at first that is 0: the kernel gives terminals to
    nothing else. In a user namespace of its own within that one the child has the number that it is to have.
    """
    return posix.getuid() != 0 and isolation["terminals"]


def map_identity(first, is_root_inside=False):
    """Only an outsider may give a new user namespace its numbers. Root keeps its own until the jail is made."""
    outside = outside_id()
    is_root = posix.getuid() == 0
    if not is_root:
        write("/proc/%d/setgroups" % first, "deny")
    keeps_root = "0 0 1\n" if is_root else ""
    inside = 0 if is_root_inside else INSIDE_ID
    gid = outside if is_root else posix.getgid()
    write("/proc/%d/uid_map" % first, "%s%d %d 1" % (keeps_root, inside, outside))
    write("/proc/%d/gid_map" % first, "%s%d %d 1" % (keeps_root, inside, gid))


def leave_root():
    """From a user namespace in which this process is 0 into one below it, in which it is who the child is."""
    kernel.syscall("unshare", kernel.CLONE_NEWUSER)
    write("/proc/self/uid_map", "%d 0 1" % INSIDE_ID)
    write("/proc/self/gid_map", "%d 0 1" % INSIDE_ID)


def be_first(scratch, isolation, become, go, report, launcher, is_root_inside):
    """In the first process of the jail. Reports the child's wait status, or `failed WORDS`."""
    try:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, _signal.SIGKILL)
        sleep_through_signals()
        if posix.read(go, 1) != b"G":
            posix._exit(1)
        if isolation["network"] == "own":
            network.close_routes(isolation)
        elif isolation["network"] == "alone":
            network.keep_buffers_small()
            network.wake_loopback()
        make_root(scratch, isolation, 0 if is_root_inside else INSIDE_ID)
        name_next(launcher)
        if is_root_inside:
            leave_root()
        bound_namespaces()
        child = posix.fork()
        if child == 0:
            take_identity()
            become(isolation["home"])
        take_identity()
        kernel.prctl(kernel.PR_SET_PDEATHSIG, _signal.SIGKILL)
        # A new identity has no such signal: the launcher may have gone in between.
        if has_gone(go):
            posix._exit(1)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        for descriptor in range(6):
            posix.close(descriptor)
        status = until_ended(child)
        posix.write(report, b"%d" % status)
    except BaseException as fault:
        posix.write(report, ("failed %s" % fault).encode())
    posix._exit(0)


def has_gone(go):
    poller = select.poll()
    poller.register(go, 0)
    return bool(poller.poll(0))


def name_next(number):
    """Gives the child the number of its launcher, so that children can be told apart by it from inside, too."""
    try:
        write("/proc/sys/kernel/ns_last_pid", str(number - 1))
    except OSError:
        pass  # Any other number serves.


def until_ended(child):
    while True:
        pid, status = posix.wait()
        if pid == child:
            return status


def take_identity():
    """Becomes nobody in particular, without any right over the jail."""
    if posix.getuid() == 0:
        posix.setgroups([])
        posix.setresgid(INSIDE_ID, INSIDE_ID, INSIDE_ID)
        kernel.drop_bounding_capabilities()
        posix.setresuid(INSIDE_ID, INSIDE_ID, INSIDE_ID)
    kernel.drop_capabilities()
