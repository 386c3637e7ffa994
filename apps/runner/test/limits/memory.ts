import { either, forever, mark, outOfMemory, type Attack } from './attack.ts'

const fillsSockets = `
import socket
def fill(pair):
    """How many bytes lie in a pair of sockets, of which room is asked for."""
    sent = 0
    for one in pair:
        one.setblocking(False)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_000_000)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_000_000)
        try:
            while True:
                sent += one.send(bytes(65536))
        except BlockingIOError:
            pass
    return sent
`
const fillsOne = `${fillsSockets}is_usual = fill(socket.socketpair()) < 1_000_000
`
const fillsMany = `${fillsSockets}
import os, time
for n in range(100):
    if os.fork() == 0:
        held = []
        try:
            while True:
                held.append(socket.socketpair())
                fill(held[-1])
        except OSError:
            time.sleep(${mark})
    time.sleep(0.1)
time.sleep(1000)`
const inPython = (source: string) =>
  `require('child_process').execFileSync('python3', ['-c', ${JSON.stringify(source)}])`

/** What holds too much memory. */
export const memory: Attack[] = [
  {
    name: 'fills the heap',
    ends: outOfMemory,
    javascript: 'const a = []; for (;;) a.push(new Array(10000).fill(1.5))',
    python: 'a = []\nwhile True: a.append([1.5] * 10000)',
  },
  {
    name: 'holds buffers',
    ends: outOfMemory,
    javascript: 'const a = []; for (;;) a.push(Buffer.alloc(5e6, 1))',
    python: 'a = []\nwhile True: a.append(bytearray(5_000_000))',
  },
  {
    name: 'holds one large thing',
    ends: outOfMemory,
    javascript: 'return Buffer.alloc(3e9, 1).length',
    python: 'return len("x" * 10 ** 10)',
  },
  {
    name: 'holds memory of web assembly, or mapped',
    ends: outOfMemory,
    javascript: `const a = []; for (;;) { const m = new WebAssembly.Memory({ initial: 500 }); new Uint8Array(m.buffer).fill(1); a.push(m) }`,
    python: `import mmap\na = []\nwhile True:\n    m = mmap.mmap(-1, 20_000_000)\n    m.write(b"x" * 20_000_000)\n    a.append(m)`,
  },
  {
    name: 'holds memory in many processes together',
    ends: outOfMemory,
    javascript: `for (let n = 0; n < 10; n++) require('child_process').spawn('python3', ['-c', 'import time; b = b"x" * 30_000_000; time.sleep(${mark})']); ${forever}`,
    python: `import os, time\nfor n in range(10):\n    if os.fork() == 0:\n        b = os.urandom(1000) * 30_000\n        time.sleep(${mark})\ntime.sleep(1000)`,
  },
  {
    name: 'unpacks a bomb',
    ends: either(outOfMemory, /ERR_BUFFER_TOO_LARGE|Cannot create a Buffer larger/),
    javascript:
      'const { gzipSync, gunzipSync } = require("zlib"); let b = Buffer.alloc(1e7); for (let n = 0; n < 3; n++) b = Buffer.concat([b, b]); b = gzipSync(b); return gunzipSync(Buffer.concat(Array(40).fill(b))).length',
    python:
      'import zlib\nc = zlib.compressobj()\np = b"".join([c.compress(bytes(10_000_000)) for _ in range(30)] + [c.flush()])\nreturn len(zlib.decompress(p))',
  },
  {
    name: 'makes room in a socket',
    ends: { value: true },
    javascript: `return ${inPython(`${fillsOne}print(is_usual)`)}.toString() === 'True\\n'`,
    python: `${fillsOne}return is_usual`,
  },
  {
    name: 'fills many sockets',
    ends: /^OutOfFilesError: /,
    javascript: `${inPython(fillsMany)}; return 'nothing came of it'`,
    python: fillsMany,
  },
  {
    name: 'parses deep JSON',
    ends: /^(RangeError|RecursionError): |^OutOfMemoryError/,
    javascript: 'return JSON.stringify(JSON.parse("[".repeat(5e6) + "]".repeat(5e6))).length',
    python: 'import json\nreturn len(json.loads("[" * 5_000_000 + "]" * 5_000_000))',
  },
  {
    name: 'calls itself without end',
    ends: /^RangeError: Maximum call stack|^RecursionError: |^OutOfMemoryError|^Error: The process was ended by SIGSEGV$/,
    javascript: 'const f = () => 1 + f(); return f()',
    python:
      'import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(x): return 1 + max([x], key=lambda y: f(y))\nreturn f(1)',
  },
  {
    name: 'returns a huge value',
    ends: /^RangeError: The return value|^(TypeError|ValueError|OverflowError|RangeError|Error): .*return value|^OutOfMemoryError/,
    javascript: 'return "x".repeat(4e7)',
    python: 'return "x" * 40_000_000',
  },
]
