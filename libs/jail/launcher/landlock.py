"""Landlock: what a process and all below it may do with files, TCP ports, signals and abstract sockets."""

import posix
import stat

from kernel import repeated, syscall

PATH_BENEATH = 1
NET_PORT = 2

EXECUTE = 1 << 0
WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_DIR = 1 << 3
REFER = 1 << 13
TRUNCATE = 1 << 14
IOCTL_DEV = 1 << 15
READ = EXECUTE | READ_FILE | READ_DIR
# By the version that brought them: all rights on files up to it.
FILES_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

BIND_AND_CONNECT = 3
SCOPES = 3
PORTS_FROM = 4
SCOPES_FROM = 6


def version():
    """Which version the kernel speaks; 0 where it has none."""
    try:
        return syscall("landlock_create_ruleset", None, 0, 1)
    except OSError:
        return 0


def rights_on_files(abi):
    return FILES_BY_ABI[max(known for known in FILES_BY_ABI if known <= abi)]


def restrict_ports(own, with_files):
    """
    From now on this process and all below it reach, and take, every TCP port but these, with the scopes of
    `restrict_scopes`. False where that can't be. Each domain below copies the rules, which takes 15 ms and 4 MB.
    `with_files`: one of those restricts files, in which this one must then allow moves; it keeps from mounting, too.
    """
    abi = version()
    if abi < PORTS_FROM:
        return False
    ruleset = make(REFER if with_files else 0, BIND_AND_CONNECT, SCOPES if abi >= SCOPES_FROM else 0)
    if with_files:
        allow(ruleset, "/", REFER)
    rule = bytearray(BIND_AND_CONNECT.to_bytes(8, "little") + bytes(8))
    add = repeated("landlock_add_rule", (ruleset, NET_PORT), rule)
    closed = set(own)
    for port in range(65536):
        if port not in closed:
            rule[8], rule[9] = port & 255, port >> 8
            add()
    enforce(ruleset)
    return True


def restrict_scopes():
    """No signal to, no trace of and no abstract socket of any process outside. False where that can't be."""
    if version() < SCOPES_FROM:
        return False
    enforce(make(0, 0, SCOPES))
    return True


def restrict_files(readable, writable, devices):
    """
    Files below `readable` may be read and executed, below `writable` all may be done, `devices` may be read and
    written. What does not exist is left out. With scopes, where the kernel knows them.
    """
    abi = version()
    if abi == 0:
        raise OSError("the kernel has no Landlock")
    every = rights_on_files(abi)
    ruleset = make(every, 0, SCOPES if abi >= SCOPES_FROM else 0)
    for path in readable:
        allow(ruleset, path, READ)
    for path in writable:
        allow(ruleset, path, every)
    for path in devices:
        allow(ruleset, path, (READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV) & every)
    enforce(ruleset)


def make(files, ports, scopes):
    """An empty ruleset of these kinds of rights; older kernels know only the first of them."""
    attributes = [files, ports, scopes]
    while len(attributes) > 1 and attributes[-1] == 0:
        attributes.pop()
    packed = b"".join(each.to_bytes(8, "little") for each in attributes)
    return syscall("landlock_create_ruleset", packed, len(packed), 0)


def allow(ruleset, path, rights):
    try:
        descriptor = posix.open(path, posix.O_PATH | posix.O_CLOEXEC)
    except OSError:
        return
    if not stat.S_ISDIR(posix.fstat(descriptor).st_mode):
        rights &= OF_FILES
    rule = rights.to_bytes(8, "little") + descriptor.to_bytes(4, "little")
    syscall("landlock_add_rule", ruleset, PATH_BENEATH, rule, 0)
    posix.close(descriptor)


def enforce(ruleset):
    syscall("landlock_restrict_self", ruleset, 0)
    posix.close(ruleset)
