"""
Subprocesses that inherit standard output and error write to two pipes that nobody reads in the order of the writes.
Where one starts and where it has ended, both pipes get a fence, and the runner reads up to it in both.
"""

import functools
import os

from output import fence
from warm import prepare_forks


def change_subprocess(subprocess):
    """Makes it put up fences."""
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
