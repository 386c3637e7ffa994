"""Run in isolation, it tries to get out, and tells on its channel what it could do."""

import _socket
import json
import posix
import sys

CHANNEL = 4


def gets_through(attempt):
    try:
        return attempt() is not False
    except OSError:
        return False


def read(path):
    posix.read(posix.open(path, posix.O_RDONLY), 1)


def write(path):
    posix.open(path, posix.O_WRONLY | posix.O_CREAT, 0o600)


def signal(processes):
    return any(gets_through(lambda pid=pid: posix.kill(pid, 0)) for pid in processes)


def sees(processes):
    return any(gets_through(lambda pid=pid: posix.stat("/proc/%d" % pid)) for pid in processes)


def connect(port):
    _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM).connect(("127.0.0.1", port))


def tell(targets):
    found = {
        "reads": gets_through(lambda: read(targets["secret"])),
        "writes": gets_through(lambda: write(targets["outside"])),
        "sees": sees(targets["processes"]),
        "signals": signal(targets["processes"]),
        "connects": gets_through(lambda: connect(targets["port"])),
    }
    posix.write(CHANNEL, json.dumps(found).encode())


tell(json.loads(sys.argv[1]))
