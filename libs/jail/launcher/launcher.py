"""Starts child processes, and sees to it that nothing which a child started outlives it.

This program stays as small as it starts, reads from standard input the isolation around all children (levels.py) and then
orders, each a JSON object after eight digits that say its length, and forks a launcher for each: forking the service itself
would hold up everything else that it does. With `ahead`, the path of a Python program, a fork of it imports that, and has the
orders with `goesOn`: their children are forks that go on as that program, in place of starting one. An order names
`socket` (where the service listens), `token` (by which it knows the connections), `channels` (the descriptors that are
connected), `listen` (where the child is to be reached, by its descriptor 3; it may be absent), `scratch` (a private
directory, made here), `dataLimit` (bytes), `program` (path and arguments), `environment`, `readable` (what this one is
shown beside what all are), `hasLowPriority` (below all others, where it has a group of its own) and `addresses` (which the host
has by now). The end of standard input is the end.
"""

import _signal
import gc
import json
import posix
import resource
import select
import sys
import time

# Isolated as this Python is, it looks for modules in its own library alone.
own_directory = posix.fspath(__file__).rpartition("/")[0]
library = sys.path[:]
sys.path[:0] = [own_directory, own_directory.rpartition("/")[0] + "/python"]
sys.dont_write_bytecode = True

import channels
import cpu_group
import jail
import levels
from kernel import PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, be_shown_as, prctl
from processes import CONTROL, be_first_out_of_memory, sleep_through_signals, wake_on_signals, watch
from removal import remove

OPEN_FILES = 1024
LENGTH_DIGITS = 8


def serve(isolation):
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
    levels.prepare(isolation)
    ahead, orders = hand_on(isolation["ahead"]) if "ahead" in isolation else (None, None)
    server = posix.getpid()
    while order := next_order(orders):
        told = json.loads(order)
        if told["goesOn"] and orders is not None:
            posix.write(orders, measured(order))
        elif fork_at_last() == 0:
            if orders is not None:
                posix.close(orders)
            launch(server, told, isolation, ahead)


def hand_on(path):
    """
    A fork serves in the same way what goes on as this program, which it alone has imported; what is done once for all
    children holds for it. In the fork: the program, and None; in this process: None, and where it reads its orders.
    """
    server = posix.getpid()
    stdin, orders = posix.pipe2(posix.O_CLOEXEC)
    if fork_at_last() > 0:
        posix.close(stdin)
        return None, orders
    prctl(PR_SET_PDEATHSIG, _signal.SIGKILL)
    if posix.getppid() != server:
        posix._exit(1)
    posix.setsid()
    posix.dup2(stdin, 0, inheritable=False)
    posix.close(stdin)
    posix.close(orders)
    return import_ahead(path), None


def next_order(other=None):
    """
    Exactly one, so that no process that is forked for it has what is said for a later one; empty at the end, which is also
    that of who reads the other's orders.
    """
    if other is not None:
        coming = select.poll()
        coming.register(0, select.POLLIN)
        coming.register(other, 0)
        if any(descriptor == other for descriptor, _ in coming.poll()):
            return b""
    length = read_whole(LENGTH_DIGITS)
    return read_whole(int(length)) if length else b""


def measured(order):
    return b"%0*d%s" % (LENGTH_DIGITS, len(order), order)


def read_whole(length):
    data = b""
    while len(data) < length:
        more = posix.read(0, length - len(data))
        if not more:
            return b""
        data += more
    return data


def import_ahead(path):
    """The program that children go on as: its `live` is called with its arguments in each of them."""
    import importlib.util

    # All of this program has been imported; the other one finds only what it would if it were started.
    sys.path[:] = library
    spec = importlib.util.spec_from_file_location("ahead", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    # Looked at by the collector, its memory would be copied by each child.
    gc.collect()
    gc.freeze()
    return program


def fork_at_last():
    """Where the machine has no room for another process it waits for some: with this process all children would end."""
    while True:
        try:
            return posix.fork()
        except OSError:
            time.sleep(0.02)


def launch(server, order, isolation, ahead):
    """In a launcher: starts the child and stays with it."""
    # Until it can be heard it waits: whoever ended by it here would leave what was made so far.
    _signal.pthread_sigmask(_signal.SIG_BLOCK, {_signal.SIGTERM})
    prctl(PR_SET_PDEATHSIG, _signal.SIGTERM)
    isolation["addresses"] = order["addresses"]
    isolation["readable"] = [*isolation["readable"], *order["readable"]]
    if posix.getppid() != server:
        posix._exit(1)
    try:
        posix.mkdir(order["scratch"], 0o700)
        if channels.connect(order):
            run(order, isolation, ahead)
        else:
            leave_nothing(order)
    except BaseException as fault:
        channels.tell("failed %s" % fault)
        leave_nothing(order)
        posix._exit(1)
    posix._exit(0)


def leave_nothing(order):
    """Of a child that never came to be."""
    clear_away(order)
    for descriptor in channels.OUTPUTS:
        unlink("%s.%d" % (order["scratch"], descriptor))


def run(order, isolation, ahead):
    posix.setsid()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    wake = wake_on_signals()
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, {_signal.SIGTERM})
    is_jail = isolation["level"] == "namespaces"
    report = None
    group = cpu_group.make(isolation.get("groups"), order["hasLowPriority"])
    if is_jail:
        channels.hand_over(jail.outside_id())
        child, report = jail.start(order["scratch"], isolation, group, lambda directory: become(order, isolation, ahead, directory))
    else:
        launcher = posix.getpid()
        child = posix.fork()
        if child == 0:
            stay_with(launcher)
            cpu_group.join(group)
            become(order, isolation, ahead, order["scratch"])
    channels.let_go()
    status = watch(child, wake, is_jail, channels.give_up)
    channels.tell("used %d %d" % used(group, is_jail))
    clear_away(order)
    channels.tell(ending(status) if report is None else reported_ending(report, status))
    cpu_group.remove(group)


def used(group, is_jail):
    """
    Microseconds on processors of the child and of all that it started, -1 where that is not known; and the most that one of
    them has held, in KiB. A jail without a group is over before all in it were waited for.
    """
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    waited_for = -1 if is_jail else int((usage.ru_utime + usage.ru_stime) * 1e6)
    return cpu_group.used_us(group) if group else waited_for, usage.ru_maxrss


def stay_with(launcher):
    """In the child: ends with its launcher."""
    prctl(PR_SET_PDEATHSIG, _signal.SIGKILL)
    if posix.getppid() != launcher:
        posix._exit(1)
    sleep_through_signals()


def become(order, isolation, ahead, directory):
    """In the child: takes on its limits and turns into the program."""
    try:
        posix.chdir(directory)
        posix.setsid()
        posix.close(CONTROL)
        be_first_out_of_memory()
        levels.limit(resource.RLIMIT_DATA, order["dataLimit"])
        levels.limit(resource.RLIMIT_NOFILE, OPEN_FILES)
        levels.restrict(isolation, directory)
        if not order["goesOn"]:
            posix.execve(order["program"][0], order["program"], order["environment"])
        go_on_as(ahead, order, isolation)
    except BaseException as error:
        posix.write(2, ("%s\n" % error).encode())
    posix._exit(127)


def go_on_as(program, order, isolation):
    """What a start of the program would do: closes what is not the child's, and leaves nothing of this program to be found."""
    import os

    posix.closerange(CONTROL, OPEN_FILES)
    be_shown_as(order["program"])
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(own_directory):
            del sys.modules[name]
    sys.modules["__main__"] = program
    sys.dont_write_bytecode = False
    sys.argv = sys.orig_argv = order["program"]
    os.environ.clear()
    os.environ.update(order["environment"])
    # Frames below the program's lead here.
    isolation.clear()
    order.clear()
    program.live(sys.argv)
    posix._exit(0)


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


def reported_ending(report, status):
    """What the first process of a jail has reported; its own end where it could not."""
    text = posix.read(report, 4096).decode()
    if text.startswith("failed"):
        return text.replace("\n", " ")
    return ending(int(text) if text else status)


def ending(status):
    if status is None:
        return "failed nobody has seen the child end"
    if posix.WIFSIGNALED(status):
        return "signal %d" % posix.WTERMSIG(status)
    return "exit %d" % posix.WEXITSTATUS(status)


# Not among the arguments, which the first process of a jail would show.
serve(json.loads(next_order()))
