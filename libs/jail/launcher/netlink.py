"""Tells the kernel about the network of this process."""

import _socket
import errno
import posix

CHANGE = 0x001 | 0x004  # NLM_F_REQUEST, NLM_F_ACK
FLAGS = CHANGE | 0x400  # NLM_F_CREATE
NLMSG_ERROR = 2


def tell(messages):
    """Sends each and waits until it is done. Error: OSError."""
    kernel_routes = _socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW, 0)
    for message in messages:
        kernel_routes.send(message)
        answer = kernel_routes.recv(4096)
        failed = -int.from_bytes(answer[16:20], "little", signed=True)
        # Without IPv6 there is nothing to be closed.
        if int.from_bytes(answer[4:6], "little") == NLMSG_ERROR and failed not in (0, errno.EAFNOSUPPORT):
            raise OSError(failed, "a rule of the network: %s" % posix.strerror(failed))
    kernel_routes.close()


def request(kind, body, flags=FLAGS):
    head = (16 + len(body)).to_bytes(4, "little") + kind.to_bytes(2, "little") + flags.to_bytes(2, "little")
    return head + bytes(8) + body


def attribute(kind, value):
    head = (4 + len(value)).to_bytes(2, "little") + kind.to_bytes(2, "little")
    return head + value + bytes(-len(value) % 4)
