"""The channels of a child, and what its launcher says to the service.

Descriptors 0-4 are the child's: standard output and standard error, channels, and nothing where there is none; 5 is the
launcher's own. Output goes through named pipes `SCRATCH.1` and `SCRATCH.2`, which take many small writes better than sockets do,
and which scripts can open again as /dev/stderr. For the others the launcher connects and says the token and the number.
On 5 the service sends `G` when it has opened the pipes, later `T` (SIGTERM to everything, a second later SIGKILL) or `K`
(SIGKILL); its end means `T`. The launcher says `pid NUMBER` first and two lines when all is over: `used MICROSECONDS KIB`,
where there was something, and `exit CODE`, `signal NUMBER` or `failed WORDS`.
"""

import _socket
import fcntl
import posix

from processes import CONTROL

OUTPUTS = (1, 2)
INPUT = 0
LISTENER = 3
BACKLOG = 512
OWN = (3, 4, CONTROL)
PIPE_BYTES = 256 * 1024


def connect(order):
    """Makes the channels; false when the service has gone meanwhile."""
    nothing = posix.open("/dev/null", posix.O_RDWR)
    for descriptor in (INPUT, *OWN):
        posix.dup2(nothing, descriptor)
    held = [pipe_to("%s.%d" % (order["scratch"], descriptor), descriptor) for descriptor in OUTPUTS]
    # The service takes what is connected for all that there is to come.
    if "listen" in order:
        listen(order["listen"])
    for descriptor in (CONTROL, *order["channels"]):
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.connect(order["socket"])
        connection.sendall(b"%s%d" % (order["token"].encode(), descriptor))
        posix.dup2(connection.fileno(), descriptor)
        connection.close()
    tell("pid %d" % posix.getpid())
    goes = posix.read(CONTROL, 1) == b"G"
    for descriptor in held:
        posix.close(descriptor)
    return goes


def listen(path):
    """A socket among the files of the service, by which it reaches the child wherever that is."""
    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(BACKLOG)
    posix.dup2(listener.fileno(), LISTENER)
    listener.close()


def pipe_to(path, descriptor):
    """Makes a named pipe, to be written to by the descriptor; the one returned keeps it whole until it is read from."""
    posix.mkfifo(path, 0o600)
    both = posix.open(path, posix.O_RDWR | posix.O_CLOEXEC)
    writer = posix.open(path, posix.O_WRONLY | posix.O_CLOEXEC)
    try:
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    except (AttributeError, OSError):
        pass  # The usual size serves, too.
    posix.dup2(writer, descriptor)
    posix.close(writer)
    return both


def let_go():
    """Of what is the child's; where its input was, something stays."""
    posix.dup2(posix.open("/dev/null", posix.O_RDWR | posix.O_CLOEXEC), INPUT)
    for descriptor in (*OUTPUTS, *OWN[:-1]):
        posix.close(descriptor)


def hand_over(identity):
    """Lets the child open its outputs again, by their names in /dev."""
    if identity != posix.getuid():
        for descriptor in OUTPUTS:
            posix.chown(descriptor, identity, identity)


def give_up():
    """The service is told at once; what is left is ended without it."""
    tell("failed the child could not be ended")
    posix.dup2(posix.open("/dev/null", posix.O_RDWR | posix.O_CLOEXEC), CONTROL)


def tell(line):
    try:
        posix.write(CONTROL, (line + "\n").encode())
    except OSError:
        pass  # The service has gone; nobody is there to be told.
