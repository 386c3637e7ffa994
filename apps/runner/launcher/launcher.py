"""Starts child processes, and sees to it that nothing which a child started outlives it.

This program stays as small as it starts, reads orders from standard input, one JSON object a line, and forks a launcher
for each: forking the service itself would hold up everything else that it does. An order names
`socket` (where the runner listens), `token` (by which it knows the connections), `scratch` (a private directory, made
here), `dataLimit` (bytes), `program` (path and arguments) and `environment`. The end of standard input is the end.

Descriptors 0-4 are the child's (nothing, standard output, standard error, frames in, frames out); 5 is the launcher's
own. Output goes through named pipes `SCRATCH.1` and `SCRATCH.2`, which take many small writes better than sockets do,
and which scripts can open again as /dev/stderr. For the others the launcher connects and says the token and the number.
On 5 the runner sends `G` when it has opened the pipes, later `T` (SIGTERM to everything, a second later SIGKILL) or `K`
(SIGKILL); its end means `T`. The launcher says `pid NUMBER` first and one line when all is over: `exit CODE`,
`signal NUMBER` or `failed WORDS`.
"""

import _ctypes
import _signal
import _socket
import fcntl
import json
import posix
import resource
import select
import sys
import time

CONTROL = 5
OUTPUTS = (1, 2)
CONNECTIONS = (3, 4, CONTROL)
PIPE_BYTES = 256 * 1024
GRACE_S = 1.0
LAST_RESORT_S = 5.0
OPEN_FILES = 4096
PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
PR_SET_CHILD_SUBREAPER = 36


class Int(_ctypes._SimpleCData):
    _type_ = "i"


class Function(_ctypes.CFuncPtr):
    _flags_ = _ctypes.FUNCFLAG_CDECL
    _restype_ = Int


prctl = Function(_ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl"))


def restrict():
    """The wall around the child: namespaces, Landlock and seccomp have their place here, just before exec."""


def serve():
    """Reads orders until there are no more; launchers are told by the kernel when this process ends."""
    prctl(PR_SET_PDEATHSIG, _signal.SIGKILL, 0, 0, 0)
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    posix.setsid()
    posix.umask(0o077)
    _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)
    server = posix.getpid()
    for line in sys.stdin.buffer:
        if posix.fork() == 0:
            launch(server, json.loads(line))


def launch(server, order):
    """In a launcher: starts the child and stays with it."""
    prctl(PR_SET_PDEATHSIG, _signal.SIGTERM, 0, 0, 0)
    if posix.getppid() != server:
        posix._exit(1)
    try:
        posix.mkdir(order["scratch"], 0o700)
        if connect(order):
            run(order)
    except BaseException as fault:
        tell("failed %r" % fault)
        posix._exit(1)
    posix._exit(0)


def connect(order):
    """Makes the channels; false when the runner has gone meanwhile."""
    nothing = posix.open("/dev/null", posix.O_RDWR)
    for descriptor in (0, *CONNECTIONS):
        posix.dup2(nothing, descriptor)
    held = [pipe_to("%s.%d" % (order["scratch"], descriptor), descriptor) for descriptor in OUTPUTS]
    for descriptor in CONNECTIONS:
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


def run(order):
    posix.setsid()
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wake = wake_on_signals()
    launcher = posix.getpid()
    child = posix.fork()
    if child == 0:
        become(launcher, order)
    for descriptor in (*OUTPUTS, *CONNECTIONS[:-1]):
        posix.close(descriptor)
    status = watch(child, wake)
    remove(order["scratch"])
    report(status)


def become(launcher, order):
    """In the child: takes on its limits and turns into the program."""
    try:
        prctl(PR_SET_PDEATHSIG, _signal.SIGKILL, 0, 0, 0)
        if posix.getppid() != launcher:
            posix._exit(1)
        _signal.set_wakeup_fd(-1)
        posix.chdir(order["scratch"])
        posix.close(CONTROL)
        limit(resource.RLIMIT_DATA, order["dataLimit"])
        limit(resource.RLIMIT_NOFILE, OPEN_FILES)
        be_first_out_of_memory()
        restrict()
        posix.execve(order["program"][0], order["program"], order["environment"])
    except BaseException as error:
        posix.write(2, ("%s\n" % error).encode())
    posix._exit(127)


def limit(which, wanted):
    hard = resource.getrlimit(which)[1]
    value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(which, (value, value))


def be_first_out_of_memory():
    try:
        score = posix.open("/proc/self/oom_score_adj", posix.O_WRONLY)
        posix.write(score, b"800")
        posix.close(score)
    except OSError:
        pass  # Without it only the kernel's choice of a victim is less sure.


def wake_on_signals():
    """A descriptor that is readable whenever a signal has come, so that one poll waits for signals and orders alike."""
    reader, writer = posix.pipe2(posix.O_NONBLOCK | posix.O_CLOEXEC)
    _signal.set_wakeup_fd(writer)
    for number in (_signal.SIGCHLD, _signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP):
        _signal.signal(number, lambda *_: None)
    return reader


def watch(child, wake):
    """Waits until the child and all below it are gone, ending them when told to; returns the child's wait status."""
    poller = select.poll()
    poller.register(wake, select.POLLIN)
    poller.register(CONTROL, select.POLLIN)
    status, deadline = None, None
    while True:
        wait_ms = None if deadline is None else max(0, (deadline - time.monotonic()) * 1000)
        order = orders(poller, wake, wait_ms)
        ended, any_left = reap(child)
        status = status if ended is None else ended
        if not any_left:
            return status
        if order == "T" and deadline is None:
            deadline = time.monotonic() + GRACE_S
            for pid in descendants():
                send(pid, _signal.SIGTERM)
        late = deadline is not None and time.monotonic() >= deadline
        if order == "K" or late or (deadline is None and status is not None):
            ended = kill_all(child)
            return status if ended is None else ended


def orders(poller, wake, wait_ms):
    """The next order from the runner or by signal, or None when only a child has ended or the time is over."""
    order = None
    for descriptor, _ in poller.poll(wait_ms):
        if descriptor == wake:
            signals = posix.read(wake, 256)
            if any(number != _signal.SIGCHLD for number in signals):
                order = order or "T"
        else:
            word = control_word()
            if word == b"":
                poller.unregister(CONTROL)
            order = "K" if b"K" in word else order or "T"
    return order


def control_word():
    try:
        return posix.read(CONTROL, 16)
    except OSError:
        return b""


def reap(child):
    """Collects whoever has ended: the child's wait status when it is among them, and whether anyone is left."""
    status = None
    while True:
        try:
            pid, ended = posix.waitpid(-1, posix.WNOHANG)
        except ChildProcessError:
            return status, False
        if pid == 0:
            return status, True
        if pid == child:
            status = ended


def kill_all(child):
    """Ends everything below: first halts all, so that nothing forks away meanwhile, then kills all, until none is left."""
    status = None
    until = time.monotonic() + LAST_RESORT_S
    while time.monotonic() < until:
        halted = set()
        while True:
            running = [pid for pid in descendants() if pid not in halted]
            if not running:
                break
            for pid in running:
                send(pid, _signal.SIGSTOP)
                halted.add(pid)
        for pid in halted:
            send(pid, _signal.SIGKILL)
        ended, any_left = reap(child)
        status = status if ended is None else ended
        if not any_left:
            break
        time.sleep(0.001)
    return status


def descendants():
    """All processes below this one that still run, however they detached themselves: orphans come to the subreaper."""
    children = {}
    for name in posix.listdir("/proc"):
        if name.isdigit():
            state, parent = state_and_parent(name)
            if state != "Z":
                children.setdefault(parent, []).append(int(name))
    found, open_ends = [], [posix.getpid()]
    while open_ends:
        below = children.get(open_ends.pop(), [])
        found.extend(below)
        open_ends.extend(below)
    return found


def state_and_parent(pid):
    try:
        stat = posix.open("/proc/%s/stat" % pid, posix.O_RDONLY)
    except OSError:
        return "Z", 0
    try:
        text = posix.read(stat, 512)
    except OSError:
        return "Z", 0
    finally:
        posix.close(stat)
    fields = text[text.rindex(b")") + 2 :].split(b" ", 2)
    return fields[0].decode(), int(fields[1])


def send(pid, number):
    try:
        posix.kill(pid, number)
    except OSError:
        pass  # It has just gone.


def remove(path):
    """Removes a directory tree, whatever its modes; what resists is left to the runner."""
    try:
        posix.chmod(path, 0o700)
        with posix.scandir(path) as entries:
            inside = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries]
        for inner, is_directory in inside:
            if is_directory:
                remove(inner)
            else:
                posix.unlink(inner)
        posix.rmdir(path)
    except OSError:
        pass


def report(status):
    if status is None:
        tell("failed the child could not be ended")
    elif posix.WIFSIGNALED(status):
        tell("signal %d" % posix.WTERMSIG(status))
    else:
        tell("exit %d" % posix.WEXITSTATUS(status))


def tell(line):
    try:
        posix.write(CONTROL, (line + "\n").encode())
    except OSError:
        pass  # The runner has gone; nobody is there to be told.


serve()
