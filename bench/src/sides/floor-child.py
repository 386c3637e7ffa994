"""A warm child with nothing around it: reads a frame from descriptor 3, evaluates the program given as its first
argument (which defines `main`, a function of the parameters) afresh, and writes what it gives to 4. With `fork` as the
second argument each frame is served by a fork, which compiles the program too."""

import json
import os
import sys


def main():
    source, forks = sys.argv[1], sys.argv[2:] == ['fork']
    program = None if forks else compile(source, 'program', 'exec')
    while (body := read_frame()) is not None:
        if not forks:
            serve(program, body)
            continue
        child = os.fork()
        if child == 0:
            serve(compile(source, 'program', 'exec'), body)
            os._exit(0)
        os.waitpid(child, 0)


def serve(program, body):
    names = {'__name__': '__main__'}
    exec(program, names)
    result = json.dumps(names['main'](json.loads(body)), separators=(',', ':')).encode()
    os.write(4, len(result).to_bytes(4, 'little') + result)


def read_frame():
    head = read(4)
    return None if head is None else read(int.from_bytes(head, 'little'))


def read(size):
    parts = b''
    while len(parts) < size:
        part = os.read(3, size - len(parts))
        if not part:
            return None
        parts += part
    return parts


main()
