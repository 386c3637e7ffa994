"""Puts in place what process code finds instead of Python's own, and takes away what is this program's."""

import builtins
import sys
import threading
from _sitebuiltins import Quitter

import imports
import logging_capture
import multiprocesses
import output
import subprocesses
import waiting
import warm

# Threads of process code; each of the usual 8 MiB would count as memory that is used.
STACK_BYTES = 2 * 1024 * 1024


def install():
    threading.stack_size(STACK_BYTES)
    waiting.install()
    output.install()
    logging_capture.install()
    subprocesses.install()
    imports.change({
        "logging": logging_capture.change_logging,
        "multiprocessing.connection": multiprocesses.change_connection,
        "multiprocessing.context": multiprocesses.change_context,
        "subprocess": subprocesses.change_subprocess,
    })
    warm.note_forks()
    for name in ("exit", "quit"):
        setattr(builtins, name, Quitter(name, "Ctrl-D (i.e. EOF)"))


def hide(directory):
    """Modules of this program can't be imported, nor stand in the way of others of their names."""
    ours = [name for name, module in sys.modules.items() if str(getattr(module, "__file__", "")).startswith(directory)]
    for name in ours:
        if name != "__main__":
            del sys.modules[name]
    sys.path.remove(directory)
