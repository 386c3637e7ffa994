"""
The isolation levels: `namespaces` (a jail of the child's own), `pod` (where no namespaces are to be had, Landlock keeps it from
files and processes), `none`. The starter is told once which one it is:
`level`; `network`: host, own, or alone (a loopback of its own that leads nowhere); `ports` (of the service, which nobody
may reach); `readable` (what programs need beside the system); `account` and
`home` (who a child is, and where its private directory is, in a jail); `homeMb` and `filesPerMb` (what that may hold);
`processes` (how many it may have); `terminals` (whether a jail has such of its own); `egress` and `helper` (for a network of
its own); `groups` (where each child gets one for processors, by the number of its launcher); `ahead` (the program that its
children are forks of, where there is one).
"""

import resource

import landlock
import seccomp
from kernel import drop_capabilities
from root import SETTINGS, python_mounts

# Where the machine counts all children together, and others of the same account.
PROCESSES_TOGETHER = 4096
MB = 1024 * 1024
SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc/passwd", "/etc/group")
OF_KERNEL = ("self", "cpuinfo", "meminfo", "stat", "loadavg", "uptime", "version", "filesystems", "sys")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def prepare(isolation):
    """In the starter: what need not be done for each child."""
    if isolation["level"] == "none":
        return
    if isolation["network"] == "host" and isolation["ports"]:
        landlock.restrict_ports(isolation["ports"], with_files=isolation["level"] == "pod")
    # A jail has no sockets of others among its files. Those without files are hidden by a network of its own, or by a
    # Landlock domain of its own; with the rules for ports, all jails lie in that of the starter.
    has_own_domain = not isolation["ports"] and landlock.version() >= landlock.SCOPES_FROM
    hides_sockets = isolation["network"] != "host" or has_own_domain
    isolation["filter"] = seccomp.program(unix_sockets=isolation["level"] == "namespaces" and hides_sockets)


def restrict(isolation, directory):
    """In the child, just before it turns into its program."""
    if isolation["level"] == "none":
        return
    limit(resource.RLIMIT_NPROC, isolation["processes"] if isolation["level"] == "namespaces" else PROCESSES_TOGETHER)
    limit(resource.RLIMIT_FSIZE, isolation["homeMb"] * MB)
    limit(resource.RLIMIT_MSGQUEUE, 0)
    if isolation["level"] == "pod":
        drop_capabilities()
        readable = [*SYSTEM, *("/etc/" + name for name in SETTINGS), *(mount["path"] for mount in isolation["readable"])]
        readable += python_mounts()
        readable += ["/proc/" + name for name in OF_KERNEL]
        # Which scripts open again by their names in /dev.
        outputs = ["/proc/self/fd/1", "/proc/self/fd/2"]
        landlock.restrict_files(readable, [directory], [*DEVICES, *outputs])
    elif isolation["network"] != "host" or not isolation["ports"]:
        # Else it lies in the domain of the starter, and has processes and files of its own.
        landlock.restrict_scopes()
    seccomp.restrict(isolation["filter"])


def limit(which, wanted):
    hard = resource.getrlimit(which)[1]
    value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(which, (value, value))

