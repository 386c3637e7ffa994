"""Starts child processes, and sees to it that nothing which a child started outlives it.

This program stays as small as it starts, reads from standard input the wall around all children (walls.py) and then
orders, one JSON object a line, and forks a launcher for each: forking the service itself would hold up everything else
that it does. An order names
`socket` (where the service listens), `token` (by which it knows the connections), `channels` (the descriptors that are
connected), `listen` (where the child is to be reached, by its descriptor 3; it may be absent), `scratch` (a private
directory, made here), `dataLimit` (bytes), `program` (path and arguments), `environment`, `readable` (what this one is
shown beside what all are), `givesWay` (to all others, where it has a group of its own) and `addresses` (which the host
has by now). The end of standard input is the end.

Descriptors 0-4 are the child's: standard output and standard error, channels, and nothing where there is none; 5 is the
launcher's own. Output goes through named pipes `SCRATCH.1` and `SCRATCH.2`, which take many small writes better than sockets do,
and which scripts can open again as /dev/stderr. For the others the launcher connects and says the token and the number.
On 5 the service sends `G` when it has opened the pipes, later `T` (SIGTERM to everything, a second later SIGKILL) or `K`
(SIGKILL); its end means `T`. The launcher says `pid NUMBER` first and one line when all is over: `exit CODE`,
`signal NUMBER` or `failed WORDS`.
"""

import _signal
import _socket
import fcntl
import json
import posix
import resource
import sys

# Isolated as this Python is, it looks for modules in its own library alone.
own_place = posix.fspath(__file__).rpartition("/")[0]
sys.path.insert(0, own_place)
sys.path.append(own_place + "/../python")
sys.dont_write_bytecode = True

import cpu_group
import jail
import walls
from kernel import PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, prctl
from processes import CONTROL, be_first_out_of_memory, sleep_through_signals, wake_on_signals, watch
from removal import remove

OUTPUTS = (1, 2)
INPUT = 0
LISTENER = 3
BACKLOG = 512
OWN = (3, 4, CONTROL)
PIPE_BYTES = 256 * 1024
OPEN_FILES = 1024


def serve(wall):
    """Reads orders until there are no more; launchers are told by the kernel when this process ends."""
    prctl(PR_SET_PDEATHSIG, _signal.SIGKILL)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    # A program that takes core files is only refused by this one byte.
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
    # Whoever started the service may have left some open, which nobody below is to have.
    posix.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    posix.setsid()
    posix.umask(0o077)
    _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)
    walls.prepare(wall)
    server = posix.getpid()
    for line in sys.stdin.buffer:
        if posix.fork() == 0:
            launch(server, json.loads(line), wall)


def launch(server, order, wall):
    """In a launcher: starts the child and stays with it."""
    # Until it can be heard it waits: whoever ended by it here would leave what was made so far.
    _signal.pthread_sigmask(_signal.SIG_BLOCK, {_signal.SIGTERM})
    prctl(PR_SET_PDEATHSIG, _signal.SIGTERM)
    wall["addresses"] = order["addresses"]
    wall["readable"] = [*wall["readable"], *order["readable"]]
    if posix.getppid() != server:
        posix._exit(1)
    try:
        posix.mkdir(order["scratch"], 0o700)
        if connect(order):
            run(order, wall)
        else:
            leave_nothing(order)
    except BaseException as fault:
        tell("failed %s" % fault)
        leave_nothing(order)
        posix._exit(1)
    posix._exit(0)


def leave_nothing(order):
    """Of a child that never came to be."""
    clear_away(order)
    for descriptor in OUTPUTS:
        unlink("%s.%d" % (order["scratch"], descriptor))


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


def run(order, wall):
    posix.setsid()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    wake = wake_on_signals()
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, {_signal.SIGTERM})
    is_jail = wall["wall"] == "namespaces"
    report = None
    group = cpu_group.make(wall.get("groups"), order["givesWay"])
    if is_jail:
        hand_over(jail.outside_id())
        child, report = jail.start(order["scratch"], wall, group, lambda directory: become(order, wall, directory))
    else:
        launcher = posix.getpid()
        child = posix.fork()
        if child == 0:
            stay_with(launcher)
            cpu_group.join(group)
            become(order, wall, order["scratch"])
    let_go()
    status = watch(child, wake, is_jail, give_up)
    clear_away(order)
    tell(ending(status) if report is None else told_ending(report, status))
    cpu_group.remove(group)


def give_up():
    """The service is told at once; what is left is ended without it."""
    tell("failed the child could not be ended")
    posix.dup2(posix.open("/dev/null", posix.O_RDWR | posix.O_CLOEXEC), CONTROL)


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


def stay_with(launcher):
    """In the child: ends with its launcher."""
    prctl(PR_SET_PDEATHSIG, _signal.SIGKILL)
    if posix.getppid() != launcher:
        posix._exit(1)
    sleep_through_signals()


def become(order, wall, directory):
    """In the child: takes on its limits and turns into the program."""
    try:
        posix.chdir(directory)
        posix.setsid()
        posix.close(CONTROL)
        be_first_out_of_memory()
        walls.limit(resource.RLIMIT_DATA, order["dataLimit"])
        walls.limit(resource.RLIMIT_NOFILE, OPEN_FILES)
        walls.restrict(wall, directory)
        posix.execve(order["program"][0], order["program"], order["environment"])
    except BaseException as error:
        posix.write(2, ("%s\n" % error).encode())
    posix._exit(127)


def clear_away(order):
    if "listen" in order:
        unlink(order["listen"])
    try:
        remove(order["scratch"])
    except OSError:
        pass  # It has not been made, or is left to the service.


def unlink(path):
    try:
        posix.unlink(path)
    except OSError:
        pass  # The service has taken it, or it was not made.


def told_ending(report, status):
    """What the first process of a jail has reported; its own end where it could not."""
    told = posix.read(report, 4096).decode()
    if told.startswith("failed"):
        return told.replace("\n", " ")
    return ending(int(told) if told else status)


def ending(status):
    if status is None:
        return "failed nobody has seen the child end"
    if posix.WIFSIGNALED(status):
        return "signal %d" % posix.WTERMSIG(status)
    return "exit %d" % posix.WEXITSTATUS(status)


def tell(line):
    try:
        posix.write(CONTROL, (line + "\n").encode())
    except OSError:
        pass  # The service has gone; nobody is there to be told.


# Not among the arguments, which the first process of a jail would show.
serve(json.loads(sys.stdin.buffer.readline()))
