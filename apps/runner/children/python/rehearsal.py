"""
What each fork does, done some times ahead with a source of our own: Python adapts its code to what it sees, and what it
has adapted here, no fork has to, nor to copy the memory for it.
"""

import builtins
import linecache
import sys

import service
import value
from program import STAR, Program

TIMES = 16
NAME = "rehearsal.py"
SOURCE = """
import json
from math import *
x: int = 1
class A:
    def get(self): return [each for each in (svc.context.parameters.a, x)]
async def main():
    return A().get()
return {"a": A().get(), "b": {"c": [1.5, "d", None]}}
"""
HEADER = {"number": 0, "id": "", "comment": None}
PARAMETERS = b'{"a": [{"b": "c"}]}'
REQUEST = b'{"headers": {}, "rawBody": "", "method": "GET"}'
PROCESS = {"id": "", "name": "", "slug": ""}
SURROUNDINGS = {"team": "", "timeZone": "UTC", "process": PROCESS, "variables": {"A": "b"}}


def program():
    """A small one: what it touches, every run needs."""
    return Program("return [svc.context.parameters]", NAME)


def rehearse(svc):
    """Leaves nothing behind but what Python has adapted; `svc` gets its values again in each run."""
    import asyncio  # As in `waiting`: not before there is time.

    for _ in range(TIMES):
        play(svc, Program(SOURCE, NAME, Program(SOURCE, NAME).packed()))
    loop = asyncio.new_event_loop()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


def compile_once():
    """In a fork that will be the first to see its program: the compiler's memory is its own then."""
    Program(SOURCE, NAME).packed()
    linecache.cache.pop(NAME, None)


def play(svc, program):
    """As a run does it. In a fork, once, while there is time: the memory that it touches is its own then."""
    own_main, own_star = sys.modules["__main__"], getattr(builtins, STAR, None)
    module = program.module()
    service.fill(svc, HEADER, PARAMETERS, REQUEST, SURROUNDINGS)
    service.install(svc, ["svc"], module.__dict__)
    value.serialise(program.run(), 1000)
    sys.modules["__main__"] = own_main
    del sys.modules["svc"]
    linecache.cache.pop(NAME, None)
    setattr(builtins, STAR, own_star)
