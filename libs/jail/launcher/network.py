"""
A network of a jail's own: a loopback alone, or one which a helper in user space (slirp4netns or pasta) leads out into the world. The loopback
and the addresses of the host are not in it; private, link-local and metadata addresses are unreachable but for
EGRESS_ALLOW.
"""

import _signal
import _socket
import posix
import select
import time

import kernel
import neighbours

WITHIN_S = 5.0
TCP_BUFFER = 128 * 1024
LOOK_MS = 5
# Where the jail asks for names; the helper asks the host's own server.
PASTA_NAMES = "169.254.1.53"
SLIRP_NAMES = "10.0.2.3"
# It reads what hostile code sends, so it has rights for that alone.
SLIRP = (
    *("--configure", "--mtu=65520", "--disable-host-loopback", "--ready-fd=3"),
    *("--enable-sandbox", "--enable-seccomp"),
)
# The machine itself and those next door, and where clouds have their metadata: whatever is allowed.
NEVER_OPEN = (
    *("0.0.0.0/8", "169.254.0.0/16", "168.63.129.16", "100.100.100.200", "192.0.0.192"),
    *("fe80::/10", "fd00:ec2::254", "fd20:ce::254"),
)
CLOSED = (
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.168.0.0/16"),
    *("198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4"),
    *("fc00::/7", "fe80::/10", "ff00::/8", "64:ff9b::/96", "64:ff9b:1::/48"),
    # Tunnels: some lead inside.
    *("2001::/23", "2002::/16"),
)

RTM_NEWLINK = 16
IFF_UP = 1
LOOPBACK = 1
RTM_NEWRULE = 32
DESTINATION = 1
PRIORITY = 6
TO_TABLE = 1
UNREACHABLE = 7
MAIN_TABLE = 254
# In this order: what is said first, holds.
NAMES = 40
NEVER = 50
OPEN_FIRST = 100
THEN_CLOSED = 200


def connect(first, scratch, isolation):
    """In the launcher: starts the helper for the network of this process, and waits until it is there."""
    ready = fifo(scratch + ".3")
    helper = posix.fork()
    if helper == 0:
        become_helper(first, scratch + ".3", isolation["helper"])
    try:
        wait_for(ready, helper)
    finally:
        posix.close(ready)
        posix.unlink(scratch + ".3")


def fifo(path):
    posix.mkfifo(path, 0o600)
    return posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)


def wait_for(ready, helper):
    poller = select.poll()
    poller.register(ready, select.POLLIN)
    until = time.monotonic() + WITHIN_S
    while time.monotonic() < until:
        if any(happened & select.POLLIN for _, happened in poller.poll(LOOK_MS)):
            return
        pid, _ = posix.waitpid(helper, posix.WNOHANG)
        if pid == helper:
            raise OSError("the helper of the network does not work here")
    raise OSError("the helper of the network was not ready in time")


def become_helper(first, ready, program):
    """Turns into the helper, without any descriptor of the child's; pasta wants SIGPIPE as it usually is."""
    try:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, _signal.SIGKILL)
        _signal.set_wakeup_fd(-1)
        _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
        nothing = posix.open("/dev/null", posix.O_RDWR)
        for descriptor in range(6):
            posix.dup2(nothing, descriptor)
        if is_pasta(program):
            arguments = pasta(first, ready)
        else:
            posix.dup2(posix.open(ready, posix.O_WRONLY), 3)
            arguments = [*SLIRP, str(first), "tap0"]
        posix.execve(program, [program, *arguments], {})
    finally:
        posix._exit(127)


def pasta(first, ready):
    none = [word for option in ("-t", "-u", "-T", "-U") for word in (option, "none")]
    as_root = ["--runas", "0"] if posix.getuid() == 0 else []
    usual = ["--foreground", "--quiet", "--config-net", "--no-map-gw", "--dns-forward", PASTA_NAMES]
    return [*usual, "--mac-addr", neighbours.MAC, *none, *as_root, "--pid", ready, str(first)]


def is_pasta(program):
    return program.endswith("pasta")


def names_server(isolation):
    return PASTA_NAMES if is_pasta(isolation["helper"]) else SLIRP_NAMES


def close_routes(isolation):
    """In the first process of the jail: what its network must not lead to."""
    keep_buffers_small()
    rules = [
        (names_server(isolation), NAMES),
        *((each, NEVER) for each in (*isolation["addresses"], *NEVER_OPEN)),
        *((each, OPEN_FIRST) for each in isolation["egress"]),
        *((each, THEN_CLOSED) for each in CLOSED),
    ]
    neighbours.tell([rule(entry, priority) for entry, priority in rules])
    # It answers for whoever is asked after; slirp4netns for nobody but itself.
    if is_pasta(isolation["helper"]):
        neighbours.tell(neighbours.messages(PASTA_NAMES))


def wake_loopback():
    """In the first process of a jail whose network is its loopback alone."""
    # struct ifinfomsg: family, type, index, flags, change
    up = IFF_UP.to_bytes(4, "little")
    neighbours.tell([neighbours.request(RTM_NEWLINK, bytes(4) + LOOPBACK.to_bytes(4, "little") + up + up, neighbours.CHANGE)])


def keep_buffers_small():
    """The kernel lets those of TCP grow by itself, and counts them to nobody."""
    for name in ("rmem", "wmem"):
        try:
            with open("/proc/sys/net/ipv4/tcp_" + name, "w", encoding="ascii") as setting:
                setting.write("4096 %d %d" % (TCP_BUFFER, TCP_BUFFER))
        except OSError:
            pass  # A machine may forbid it; then they are bounded for all together.


def rule(entry, priority):
    """A message that makes addresses go by the main table, or nowhere."""
    address, _, bits = entry.partition("/")
    family = _socket.AF_INET6 if ":" in address else _socket.AF_INET
    packed = _socket.inet_pton(family, address)
    length = int(bits) if bits else len(packed) * 8
    action = TO_TABLE if priority in (NAMES, OPEN_FIRST) else UNREACHABLE
    table = MAIN_TABLE if action == TO_TABLE else 0
    head = bytes((family, length, 0, 0, table, 0, 0, action)) + bytes(4)
    addressed = neighbours.attribute(DESTINATION, packed) + neighbours.attribute(PRIORITY, priority.to_bytes(4, "little"))
    return neighbours.request(RTM_NEWRULE, head + addressed)
