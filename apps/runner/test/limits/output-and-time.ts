import { forever, lineCut, logCut, timedOut, type Attack } from './attack.ts'

/** What prints too much. */
export const output: Attack[] = [
  {
    name: 'prints a gigabyte of lines',
    ends: { value: 1 },
    logEnds: logCut,
    javascript: `const b = Buffer.from(("x".repeat(99) + "\\n").repeat(1e4)); for (let n = 0; n < 1000; n++) require("fs").writeSync(1, b); return 1`,
    python: `import os\nb = (b"x" * 99 + b"\\n") * 10_000\nfor n in range(1000): os.write(1, b)\nreturn 1`,
    timeoutMs: 60_000,
  },
  {
    name: 'prints 200 MB of errors',
    ends: { value: 1 },
    logEnds: logCut,
    javascript: `const b = Buffer.from(("x".repeat(99) + "\\n").repeat(1e4)); for (let n = 0; n < 200; n++) require("fs").writeSync(2, b); return 1`,
    python: `import os\nb = (b"x" * 99 + b"\\n") * 10_000\nfor n in range(200): os.write(2, b)\nreturn 1`,
    timeoutMs: 60_000,
  },
  {
    name: 'logs without end',
    ends: timedOut,
    logEnds: logCut,
    javascript: 'for (;;) console.log("line")',
    python: 'while True: print("line")',
    timeoutMs: 2000,
  },
  {
    name: 'prints empty lines without end',
    ends: timedOut,
    logEnds: logCut,
    javascript: 'const b = Buffer.alloc(65536, 10); for (;;) require("fs").writeSync(1, b)',
    python: 'import os\nb = b"\\n" * 65536\nwhile True: os.write(1, b)',
    timeoutMs: 2000,
  },
  {
    name: 'prints one line of 100 MB',
    ends: { value: 1 },
    logEnds: lineCut,
    javascript:
      'process.stdout.write("x".repeat(1e7)); const b = Buffer.alloc(1e7, 120); for (let n = 0; n < 10; n++) process.stdout.write(b); return 1',
    python: 'import sys\nfor n in range(10): sys.stdout.write("x" * 10_000_000)\nprint()\nreturn 1',
    timeoutMs: 60_000,
  },
  {
    name: 'logs one line of 40 MB',
    ends: { value: 1 },
    logEnds: lineCut,
    javascript: 'console.log("x".repeat(4e7)); return 1',
    python: 'print("x" * 40_000_000)\nreturn 1',
  },
  {
    name: 'prints NUL and what is no text',
    ends: { value: 1 },
    javascript:
      'for (const b of [Buffer.from([0, 255, 254, 0xc3, 10]), Buffer.from([255, 0, 254, 1]), Buffer.from([255, 0, 254, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 10])]) { require("fs").writeSync(1, b); require("fs").writeSync(2, b) } console.log("\\0\\ud800"); return 1',
    python:
      'import os\nfor b in (b"\\0\\xff\\xfe\\xc3\\n", b"\\xff\\0\\xfe\\1", b"\\xff\\0\\xfe\\1\\2" + bytes(8) + b"\\xff\\xff\\xff\\xff\\n"):\n    os.write(1, b)\n    os.write(2, b)\nprint("\\0\\ud800")\nreturn 1',
  },
]

/** What takes too long. */
export const time: Attack[] = [
  { name: 'loops without end', ends: timedOut, javascript: 'for (;;);', python: 'while True: pass', timeoutMs: 300 },
  {
    name: 'loops without end and ignores SIGTERM',
    ends: timedOut,
    javascript: 'process.on("SIGTERM", () => {}); for (;;);',
    python: 'import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass',
    timeoutMs: 300,
  },
  {
    name: 'matches a regular expression without end',
    ends: timedOut,
    javascript: 'return /^(a+)+$/.test("a".repeat(50) + "b")',
    python: 'import re\nreturn re.match("^(a+)+$", "a" * 50 + "b")',
    timeoutMs: 300,
  },
  {
    name: 'leaves 100,000 timers',
    ends: { value: 1 },
    javascript: 'for (let n = 0; n < 1e5; n++) setTimeout(() => {}, n % 2 ? 1e6 : n / 1e4); return 1',
    python:
      'import asyncio\nasync def main():\n    loop = asyncio.get_running_loop()\n    for n in range(100_000): loop.call_later(1000, print)\n    return 1',
  },
  {
    name: 'never lets its event loop come round',
    ends: timedOut,
    javascript: 'const again = () => Promise.resolve().then(again); again(); await new Promise(() => {})',
    python: 'import asyncio\nasync def main():\n    while True: await asyncio.sleep(0)',
    timeoutMs: 300,
  },
  {
    name: 'halts itself',
    ends: timedOut,
    javascript: `process.kill(process.pid, 'SIGSTOP'); ${forever}`,
    python: 'import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)',
    timeoutMs: 300,
  },
]
