"""
Modules of Python's own library that much process code needs. Where a program names them, they are imported in the process
that forks its runs: a fork has them for nothing, and no other program bears their weight.
"""

import contextlib
import functools
import gc
import importlib
import os
import sys

MODULES = frozenset((
    "abc argparse array ast asyncio base64 bisect builtins calendar collections collections.abc concurrent.futures"
    " concurrent.futures.thread contextlib contextvars copy csv dataclasses datetime decimal difflib email.message enum"
    " fractions functools gzip hashlib heapq hmac html http.client http.cookies inspect io ipaddress itertools json"
    " logging math mimetypes operator os os.path pathlib pickle platform queue random re secrets select shlex shutil"
    " signal socket ssl statistics string struct subprocess sys tempfile textwrap threading time traceback types typing"
    " unicodedata urllib.error urllib.parse urllib.request uuid warnings weakref xml.etree.ElementTree zlib zoneinfo"
    " _strptime bz2 encodings.idna linecache _sitebuiltins"
).split())
# What they import when they are used.
LATER = {"datetime": "_strptime", "http.client": "encodings.idna", "urllib.request": "encodings.idna"}

# Team variables by which OpenSSL, while it is imported, loads native code or writes secrets to a file.
OF_OPENSSL = frozenset(("OPENSSL_CONF", "OPENSSL_CONF_INCLUDE", "OPENSSL_ENGINES", "OPENSSL_MODULES", "SSLKEYLOGFILE"))

_at_fork = []


def among(names):
    """Those of these names that may be imported ahead, with what they import when they are used."""
    found = MODULES.intersection(names)
    return sorted(found.union(LATER[each] for each in found if each in LATER))


def import_ahead(names):
    """A Python without one of them does without. With variables that lead OpenSSL to the team's own code nothing is imported."""
    if OF_OPENSSL.intersection(os.environ):
        return
    with forks_noted():
        for each in MODULES.intersection(names):
            with contextlib.suppress(ImportError):
                importlib.import_module(each)


@contextlib.contextmanager
def forks_noted():
    """
    What modules that are imported within want done around a fork is only noted: this process forks once a run and has one
    thread, so that none of it is needed here.
    """
    register = os.register_at_fork
    os.register_at_fork = at_fork
    try:
        yield
    finally:
        os.register_at_fork = register


def at_fork(**functions):
    """Notes what is to be done around forks that process code makes."""
    _at_fork.append(functions)


def freeze():
    """Keeps the collector off what is here now: looking at it would copy its pages in each fork."""
    gc.collect()
    gc.freeze()


def wake():
    """In a fork: what must differ from its siblings."""
    if "random" in sys.modules:
        sys.modules["random"].seed()
    sys.modules["threading"].main_thread()._set_native_id()


def prepare_forks():
    """Before process code forks: what the imported modules want done around it."""
    while _at_fork:
        os.register_at_fork(**_at_fork.pop(0))


def note_forks():
    """Makes process code's own ways to fork do that first."""
    for name in ("fork", "forkpty"):
        original = getattr(os, name)

        @functools.wraps(original)
        def prepared(original=original):
            prepare_forks()
            return original()

        setattr(os, name, prepared)
