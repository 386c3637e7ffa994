"""
What each run does, done some times ahead with a source of our own: Python adapts its code to what it sees, and what it
has adapted here, no fork has to, nor to copy the memory for it.
"""

import builtins
import linecache
import sys

import service
import value
from program import PROGRAM, Program

# Python adapts what has been called eight times.
TIMES = 10
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


def rehearse():
    """Leaves nothing behind but what Python has adapted."""
    packed = Program(SOURCE, NAME).packed()
    for _ in range(TIMES):
        play(Program(SOURCE, NAME, packed))


def play_once():
    """In a fork that will be the first to see its program: the memory that it touches is its own then."""
    play(Program(SOURCE, NAME, Program(SOURCE, NAME).packed()))


def play(program):
    """As a run does it."""
    own_main, own_program = sys.modules["__main__"], getattr(builtins, PROGRAM, None)
    svc = service.create(None)
    module = program.module()
    service.surround(svc, SURROUNDINGS)
    service.fill(svc, HEADER, PARAMETERS, REQUEST)
    service.install(svc, ["svc"], module.__dict__)
    value.serialise(program.run(), 1000)
    sys.modules["__main__"] = own_main
    del sys.modules["svc"]
    linecache.cache.pop(NAME, None)
    setattr(builtins, PROGRAM, own_program)
