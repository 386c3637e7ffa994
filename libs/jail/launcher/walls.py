"""
The walls: `namespaces` (a jail of the child's own), `pod` (where no namespaces are to be had, Landlock keeps it from
files and processes), `none`. The starter is told once which one it is:
`wall`; `network`: host, own, or alone (a loopback of its own that leads nowhere); `ports` (of the service, which nobody
may reach); `readable` (what programs need beside the system) and `links` (by which they find it in a jail); `account` and
`home` (who a child is, and where its private directory is, in a jail); `homeMb` (what that may hold); `processes` (how
many it may have); `egress` and `helper` (for a network of its own); `groups` (where each child gets one for
processors, by the number of its launcher).
"""

import resource

import landlock
import seccomp
from kernel import drop_capabilities
from root import SETTINGS, python_places

# Where the machine counts all children together, and others of the same account.
PROCESSES_TOGETHER = 4096
MB = 1024 * 1024
SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc/passwd", "/etc/group")
OF_KERNEL = ("self", "cpuinfo", "meminfo", "stat", "loadavg", "uptime", "version", "filesystems", "sys")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def prepare(wall):
    """In the starter: what need not be done for each child."""
    if wall["wall"] == "none":
        return
    if wall["network"] == "host" and wall["ports"]:
        landlock.restrict_ports(wall["ports"], with_files=wall["wall"] == "pod")
    # A jail has no sockets of others among its files. Those without files are hidden by a network of its own, or by a
    # Landlock domain of its own; with the rules for ports, all jails lie in that of the starter.
    has_own_domain = not wall["ports"] and landlock.version() >= landlock.SCOPES_FROM
    hides_sockets = wall["network"] != "host" or has_own_domain
    wall["filter"] = seccomp.program(unix_sockets=wall["wall"] == "namespaces" and hides_sockets)


def restrict(wall, directory):
    """In the child, just before it turns into its program."""
    if wall["wall"] == "none":
        return
    limit(resource.RLIMIT_NPROC, wall["processes"] if wall["wall"] == "namespaces" else PROCESSES_TOGETHER)
    limit(resource.RLIMIT_FSIZE, wall["homeMb"] * MB)
    limit(resource.RLIMIT_MSGQUEUE, 0)
    if wall["wall"] == "pod":
        drop_capabilities()
        readable = [*SYSTEM, *("/etc/" + name for name in SETTINGS), *(place["path"] for place in wall["readable"])]
        readable += python_places()
        readable += ["/proc/" + name for name in OF_KERNEL]
        # Which scripts open again by their names in /dev.
        outputs = ["/proc/self/fd/1", "/proc/self/fd/2"]
        landlock.restrict_files(readable, [directory], [*DEVICES, *outputs])
    elif wall["network"] != "host" or not wall["ports"]:
        # Else it lies in the domain of the starter, and has processes and files of its own.
        landlock.restrict_scopes()
    seccomp.restrict(wall["filter"])


def limit(which, wanted):
    hard = resource.getrlimit(which)[1]
    value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(which, (value, value))

