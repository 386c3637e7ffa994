"""Ends everything that a run has started. Whoever it has left comes to this process, which is their subreaper."""

import os
import time

from confine import end_others

LAST_RESORT_S = 5.0


def end_all():
    """Kills every descendant and collects it; false when some could not be ended in time."""
    until = time.monotonic() + LAST_RESORT_S
    while reap():
        if time.monotonic() > until:
            return False
        end_others()
        time.sleep(0.0005)
    return True


def reap():
    """Collects whoever has ended; whether any is left."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return True
        except ChildProcessError:
            return False
