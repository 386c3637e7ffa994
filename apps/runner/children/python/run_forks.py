"""
How a template makes its runs: children of the zygote, which alone ends each with all below it. Where none can be made, the
template ends, and each run has a fork of the zygote.
"""

import posix
import time

import confine
import fork_handlers
import process_control

# Between two looks for the new parent.
REPARENTED_S = 0.0002

fork = posix.fork
wait_for = posix.waitpid
end_process = posix._exit


def forker(libraries):
    """What forks a run, and says in each process whether it is that. `libraries`: those from before the imports."""
    if not confine.can_filter() or not process_control.knows_number() or fork_handlers.may_be_since(libraries):
        return twice
    fork_beside = process_control.beside_forker()

    def once():
        if fork_beside() != 0:
            return False
        if not confine.bear_no_siblings():
            end_process(1)
        return True

    return once


def twice():
    """By a process between, which ends: the zygote adopts its child."""
    middle = fork()
    if middle != 0:
        if wait_for(middle, 0)[1] != 0:
            end_process(1)
        return False
    middle = posix.getpid()
    if fork() != 0:
        end_process(0)
    while posix.getppid() == middle:
        time.sleep(REPARENTED_S)
    return True
