"""Starts child processes, and sees to it that nothing which a child started outlives it.

This program stays as small as it starts, reads from standard input the isolation around all children (levels.py) and then
orders, one JSON object a line, and forks a launcher for each: forking the service itself would hold up everything else
that it does. An order names
`socket` (where the service listens), `token` (by which it knows the connections), `channels` (the descriptors that are
connected), `listen` (where the child is to be reached, by its descriptor 3; it may be absent), `scratch` (a private
directory, made here), `dataLimit` (bytes), `program` (path and arguments), `environment`, `readable` (what this one is
shown beside what all are), `hasLowPriority` (below all others, where it has a group of its own) and `addresses` (which the host
has by now). The end of standard input is the end.
"""

import _signal
import json
import posix
import resource
import sys
import time

# Isolated as this Python is, it looks for modules in its own library alone.
own_directory = posix.fspath(__file__).rpartition("/")[0]
sys.path.insert(0, own_directory)
sys.path.append(own_directory + "/../python")
sys.dont_write_bytecode = True

import channels
import cpu_group
import jail
import levels
from kernel import PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, prctl
from processes import CONTROL, be_first_out_of_memory, sleep_through_signals, wake_on_signals, watch
from removal import remove

OPEN_FILES = 1024


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
    server = posix.getpid()
    for line in sys.stdin.buffer:
        if fork_at_last() == 0:
            launch(server, json.loads(line), isolation)


def fork_at_last():
    """Where the machine has no room for another process it waits for some: with this process all children would end."""
    while True:
        try:
            return posix.fork()
        except OSError:
            time.sleep(0.02)


def launch(server, order, isolation):
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
            run(order, isolation)
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


def run(order, isolation):
    posix.setsid()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    wake = wake_on_signals()
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, {_signal.SIGTERM})
    is_jail = isolation["level"] == "namespaces"
    report = None
    group = cpu_group.make(isolation.get("groups"), order["hasLowPriority"])
    if is_jail:
        channels.hand_over(jail.outside_id())
        child, report = jail.start(order["scratch"], isolation, group, lambda directory: become(order, isolation, directory))
    else:
        launcher = posix.getpid()
        child = posix.fork()
        if child == 0:
            stay_with(launcher)
            cpu_group.join(group)
            become(order, isolation, order["scratch"])
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


def become(order, isolation, directory):
    """In the child: takes on its limits and turns into the program."""
    try:
        posix.chdir(directory)
        posix.setsid()
        posix.close(CONTROL)
        be_first_out_of_memory()
        levels.limit(resource.RLIMIT_DATA, order["dataLimit"])
        levels.limit(resource.RLIMIT_NOFILE, OPEN_FILES)
        levels.restrict(isolation, directory)
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
serve(json.loads(sys.stdin.buffer.readline()))
