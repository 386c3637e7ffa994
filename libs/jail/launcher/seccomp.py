"""
A filter of system calls: those that no user code needs, and by which it could reach others, are refused; those that
nobody has looked at yet are not there.
"""

import _socket
import errno

from kernel import (
    CLONE_NEWCGROUP,
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    CLONE_NEWUTS,
    IS_ARM,
    PR_SET_SECCOMP,
    address,
    prctl,
)
from system_calls import (
    ABSENT,
    CLONE,
    CLONE3,
    GAP,
    IOCTL,
    NEWEST,
    NONE,
    PRLIMIT,
    REFUSED,
    SCHED_SETAFFINITY,
    SENDING,
    SETSOCKOPT,
    SHARED_FROM,
    SOCKET,
    SOCKETPAIR,
)

SECCOMP_MODE_FILTER = 2
KILL_PROCESS = 0x80000000
ALLOW = 0x7FFF0000
ERROR = 0x00050000
ARCHITECTURE = 0xC00000B7 if IS_ARM else 0xC000003E
NAMESPACES = (
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET
)
TIOCSTI = 0x5412
TIOCLINUX = 0x541C
NETLINK_ROUTE = 0
# The usual one of a type, and those of TCP, UDP and ping. Others turn into TCP on the way, past the rules for its ports.
PROTOCOLS = (0, _socket.IPPROTO_TCP, _socket.IPPROTO_UDP, _socket.IPPROTO_ICMP, _socket.IPPROTO_ICMPV6)
# Connects by sending, past the same rules.
MSG_FASTOPEN = 0x20000000
# What lies in sockets counts to nobody: no program makes room for more than is usual. The last two do it by force.
BUFFER_SIZES = (_socket.SO_SNDBUF, _socket.SO_RCVBUF, 32, 33)
# Pairs that stay pairs; others send to whom they like.
PAIRS = (_socket.SOCK_STREAM, _socket.SOCK_SEQPACKET)

LOAD = 0x20
JUMP_EQUAL = 0x15
JUMP_AT_LEAST = 0x35
JUMP_ANY_BIT = 0x45
AND = 0x54
RETURN = 0x06
NUMBER_AT = 0
ARCHITECTURE_AT = 4


def instruction(code, value, when_true=0, when_false=0):
    return (
        code.to_bytes(2, "little") + bytes((when_true, when_false)) + (value & 0xFFFFFFFF).to_bytes(4, "little")
    )


def argument_at(index):
    """The low half of an argument: all that is looked at fits into it."""
    return 16 + 8 * index


def refuse(number=errno.EPERM):
    return [instruction(RETURN, ERROR | number)]


def when(call, steps):
    """Steps for one system call; they end by an answer, or go on with its number loaded again."""
    number = call[IS_ARM]
    if number == NONE:
        return []
    return [instruction(JUMP_EQUAL, number, 0, len(steps)), *steps]


def unless_argument(index, value, answer):
    """Answers unless the argument is this value; else the call is allowed."""
    return [
        instruction(LOAD, argument_at(index)),
        instruction(JUMP_EQUAL, value, 1, 0),
        *answer,
        instruction(RETURN, ALLOW),
    ]


def socket_steps(unix_sockets):
    """Internet sockets of the usual protocols, and netlink only for asking about routes and addresses."""
    steps = [instruction(LOAD, argument_at(0))]
    if unix_sockets:
        steps += [instruction(JUMP_EQUAL, _socket.AF_UNIX, 0, 1), instruction(RETURN, ALLOW)]
    protocols = [instruction(LOAD, argument_at(2))]
    for protocol in PROTOCOLS:
        protocols += [instruction(JUMP_EQUAL, protocol, 0, 1), instruction(RETURN, ALLOW)]
    protocols += refuse(errno.EPROTONOSUPPORT)
    for family in (_socket.AF_INET, _socket.AF_INET6):
        steps += [instruction(JUMP_EQUAL, family, 0, len(protocols)), *protocols]
    netlink = unless_argument(2, NETLINK_ROUTE, refuse(errno.EAFNOSUPPORT))
    steps += [instruction(JUMP_EQUAL, _socket.AF_NETLINK, 0, len(netlink)), *netlink]
    return steps + refuse(errno.EAFNOSUPPORT)


def pair_steps(unix_sockets):
    """Sockets of the own machine, without `unix_sockets` only such as never leave their pair."""
    steps = unless_argument(0, _socket.AF_UNIX, refuse(errno.EAFNOSUPPORT))[:-1]
    if unix_sockets:
        return [*steps, instruction(RETURN, ALLOW)]
    steps += [instruction(LOAD, argument_at(1)), instruction(AND, ~(_socket.SOCK_CLOEXEC | _socket.SOCK_NONBLOCK))]
    for kind in PAIRS:
        steps += [instruction(JUMP_EQUAL, kind, 0, 1), instruction(RETURN, ALLOW)]
    return steps + refuse(errno.ESOCKTNOSUPPORT)


def option_steps():
    """Sizes of buffers stay as they are; programs that set them, and end when they can't, are told that all is well."""
    options = [instruction(LOAD, argument_at(2))]
    for option in BUFFER_SIZES:
        options += [instruction(JUMP_EQUAL, option, 0, 1), *refuse(0)]
    level = [instruction(LOAD, argument_at(1)), instruction(JUMP_EQUAL, _socket.SOL_SOCKET, 0, len(options))]
    return [*level, *options, instruction(RETURN, ALLOW)]


def program(unix_sockets):
    """The filter; `unix_sockets`: whether a child may make sockets of its own machine."""
    steps = [
        instruction(LOAD, ARCHITECTURE_AT),
        instruction(JUMP_EQUAL, ARCHITECTURE, 1, 0),
        instruction(RETURN, KILL_PROCESS),
        instruction(LOAD, NUMBER_AT),
    ]
    absent = refuse(errno.ENOSYS)
    steps += [instruction(JUMP_AT_LEAST, NEWEST + 1, 0, 1), *absent]
    steps += [instruction(JUMP_AT_LEAST, SHARED_FROM, 2, 0), instruction(JUMP_AT_LEAST, GAP[IS_ARM], 0, 1), *absent]
    for call in REFUSED.values():
        steps += when(call, refuse())
    for call in ABSENT.values():
        steps += when(call, absent)
    # Its flags lie in memory, where no filter sees them; C libraries then use the older call.
    steps += when(CLONE3, refuse(errno.ENOSYS))
    flags = instruction(LOAD, argument_at(0))
    steps += when(CLONE, [flags, instruction(JUMP_ANY_BIT, NAMESPACES, 0, 1), *refuse(), instruction(RETURN, ALLOW)])
    steps += when(SOCKET, socket_steps(unix_sockets))
    steps += when(SOCKETPAIR, pair_steps(unix_sockets))
    steps += when(SETSOCKOPT, option_steps())
    for call, at in SENDING:
        sending = [instruction(LOAD, argument_at(at)), instruction(JUMP_ANY_BIT, MSG_FASTOPEN, 0, 1)]
        steps += when(call, [*sending, *refuse(errno.EOPNOTSUPP), instruction(RETURN, ALLOW)])
    steps += when(PRLIMIT, unless_argument(0, 0, refuse()))
    steps += when(SCHED_SETAFFINITY, unless_argument(0, 0, refuse()))
    typing = [instruction(LOAD, argument_at(1))]
    for request in (TIOCSTI, TIOCLINUX):
        typing += [instruction(JUMP_EQUAL, request, 0, 1), *refuse()]
    steps += when(IOCTL, [*typing, instruction(RETURN, ALLOW)])
    return b"".join([*steps, instruction(RETURN, ALLOW)])


def restrict(filter):
    """Puts a filter on this process and all below it; needs no_new_privs."""
    head = (len(filter) // 8).to_bytes(8, "little") + address(filter).to_bytes(8, "little")
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, address(head))
