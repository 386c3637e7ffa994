"""
Subprocesses that inherit standard output and error write to two pipes that nobody reads in the order of the writes.
Where one starts and where it has ended, both pipes get a fence, and the runner reads up to it in both.
"""

import functools
import os

from output import fence
from warm import prepare_forks


# How this Python was started, and no process of a run is meant to be.
OWN_FLAGS = ("-I", "-E", "-s", "-S", "-P")


def change_subprocess(subprocess):
    """Makes it put up fences, and start other Pythons as it would in one of the user's own."""
    spawn = subprocess.Popen._execute_child
    ended = subprocess.Popen._handle_exitstatus

    @functools.wraps(spawn)
    def fenced_spawn(self, *values, **named):
        fence()
        prepare_forks()
        return spawn(self, *values, **named)

    @functools.wraps(ended)
    def fenced_end(self, *values, **named):
        fence()
        return ended(self, *values, **named)

    arguments = subprocess._args_from_interpreter_flags

    @functools.wraps(arguments)
    def shared_arguments():
        # A Python that a library starts with these is to find what PYTHONPATH names, as any other that a run starts.
        return [each for each in arguments() if each not in OWN_FLAGS]

    subprocess._args_from_interpreter_flags = shared_arguments
    subprocess.Popen._execute_child = fenced_spawn
    subprocess.Popen._handle_exitstatus = fenced_end


def install():
    """Makes `os.system` put up fences."""
    os.system = fenced(os.system)


def fenced(call):
    @functools.wraps(call)
    def around(*values, **named):
        fence()
        try:
            return call(*values, **named)
        finally:
            fence()

    return around
