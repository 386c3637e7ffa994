"""
Whom a network of a jail's own takes for its neighbours. A socket that is bound to an interface, which anybody may do,
goes past the rules of `network`: the kernel then takes an address that has no way for one next door, and pasta answers
for every neighbour. So the jail knows one, by whom it goes out, and looks for no other.
"""

import _socket
import errno
import posix

CHANGE = 0x001 | 0x004  # NLM_F_REQUEST, NLM_F_ACK
FLAGS = CHANGE | 0x400  # NLM_F_CREATE
NLMSG_ERROR = 2

MAC = "9a:55:9a:55:9a:55"
ARP_TABLE = b"arp_cache\0"

REPLACE = 0x100
NEW_ROUTE = 24
DELETE_ROUTE = 25
NEW_NEIGHBOUR = 28
SET_NEIGHBOUR_TABLE = 67
MAIN_TABLE = 254
ANY_SCOPE = 255
STATIC = 4
UNICAST = 1
ON_LINK = 4
DESTINATION = 1
INTERFACE = 4
GATEWAY = 5
HARDWARE_ADDRESS = 2
PERMANENT = 0x80
TABLE_NAME = 1
TABLE_PARAMETERS = 6
OF_INTERFACE = 1
PROBES = (9, 10, 11)


def messages(address):
    """What makes all IPv4 of the network of this process go by one neighbour, which is known by this address."""
    routes = own_routes()
    ways_out = [name for name, target, mask in routes if target == mask == bytes(4)]
    return [
        *(without_route(*route) for route in routes),
        *(message for name in ways_out[:1] for message in only_neighbour(name, _socket.inet_aton(address))),
    ]


def own_routes():
    """Interface, destination and mask of each."""
    with open("/proc/self/net/route", encoding="ascii") as table:
        fields = [line.split() for line in table][1:]
    return [(each[0], *(bytes.fromhex(each[at])[::-1] for at in (1, 7))) for each in fields]


def only_neighbour(name, address):
    interface = _socket.if_nametoindex(name).to_bytes(4, "little")
    head = bytes((_socket.AF_INET, 0, 0, 0)) + interface + PERMANENT.to_bytes(2, "little") + bytes(2)
    hardware_address = attribute(HARDWARE_ADDRESS, bytes.fromhex(MAC.replace(":", "")))
    yield request(NEW_NEIGHBOUR, head + attribute(DESTINATION, address) + hardware_address, FLAGS | REPLACE)
    parameters = attribute(OF_INTERFACE, interface) + b"".join(attribute(each, bytes(4)) for each in PROBES)
    table = attribute(TABLE_NAME, ARP_TABLE) + attribute(TABLE_PARAMETERS, parameters)
    yield request(SET_NEIGHBOUR_TABLE, bytes((_socket.AF_INET, 0, 0, 0)) + table)
    route = bytes((_socket.AF_INET, 0, 0, 0, MAIN_TABLE, STATIC, 0, UNICAST)) + ON_LINK.to_bytes(4, "little")
    yield request(NEW_ROUTE, route + attribute(INTERFACE, interface) + attribute(GATEWAY, address))


def without_route(name, target, mask):
    bits = int.from_bytes(mask, "big").bit_count()
    head = bytes((_socket.AF_INET, bits, 0, 0, MAIN_TABLE, 0, ANY_SCOPE, 0)) + bytes(4)
    interface = attribute(INTERFACE, _socket.if_nametoindex(name).to_bytes(4, "little"))
    return request(DELETE_ROUTE, head + attribute(DESTINATION, target) + interface)


def tell(messages):
    """Tells the kernel about the network of this process: sends each and waits until it is done. Error: OSError."""
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
