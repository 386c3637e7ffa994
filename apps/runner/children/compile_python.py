"""
compile_python.py DIRECTORY...: compiles the modules there where all accounts can read it, as children have accounts of
their own. Python does so by itself only for the account that it runs as.
"""

import os
import sys
from importlib.util import cache_from_source

READABLE = 0o644
ENTERABLE = 0o755


def is_there(cached, source):
    try:
        found = os.stat(cached)
    except FileNotFoundError:
        return False
    return found.st_mode & READABLE == READABLE and found.st_mtime >= os.stat(source).st_mtime


for directory in sys.argv[1:]:
    for name in os.listdir(directory):
        source = os.path.join(directory, name)
        if name.endswith(".py") and not is_there(cache_from_source(source), source):
            import py_compile  # Takes longer than to see that it is not needed.

            cached = py_compile.compile(source, doraise=True)
            os.chmod(cached, READABLE)
            os.chmod(os.path.dirname(cached), ENTERABLE)
