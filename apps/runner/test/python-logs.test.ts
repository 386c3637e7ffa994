import { until } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hand, run } from './python-run.ts'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'
import { lines } from './scripted-replica.ts'

let under: RunnerUnderTest
beforeAll(async () => {
  under = await startRunner({ LOG_MAX_LINES: '500' })
})
afterAll(() => under.stop())

const prints: [guarantee: string, source: string, log: string[]][] = [
  ['print', 'print("a", 1, None)', ['INFO a 1 None']],
  [
    'an entry for each print, also of several lines',
    'print("a\\nb")\nprint()\nprint("c", "d", sep="\\n")',
    ['INFO a\nb', 'INFO ', 'INFO c\nd'],
  ],
  ['a line in parts', 'print("a", end="")\nprint("b", end=" ")\nprint("c")\nprint("d")', ['INFO ab c', 'INFO d']],
  ['a line without an end', 'print("a", end="")', ['INFO a']],
  ['print to standard error', 'import sys\nprint("a\\nb", file=sys.stderr)', ['ERROR a\nb']],
  [
    'writes to the streams',
    'import sys\nsys.stdout.write("a\\nb\\n")\nsys.stderr.write("c\\n")\nsys.stdout.buffer.write(b"d\\n")\nsys.stdout.flush()',
    ['INFO a', 'INFO b', 'ERROR c', 'INFO d'],
  ],
  ['raw writes', 'import os\nos.write(1, b"a\\n")\nprint("b")\nos.write(1, b"c\\n")', ['INFO a', 'INFO b', 'INFO c']],
  [
    'what C holds back until a process ends',
    'import ctypes\nctypes.CDLL(None).printf(b"a\\nb")\nprint("c")',
    ['INFO c', 'INFO a', 'INFO b'],
  ],
  ['raw writes to standard error', 'import os\nos.write(2, b"a\\n")', ['ERROR a']],
  [
    'logging, all levels, once',
    'import logging\nfor level in ("debug", "info", "warning", "error", "critical"): getattr(logging, level)("to %s", level)',
    ['DEBUG to debug', 'INFO to info', 'WARNING to warning', 'ERROR to error', 'ERROR to critical'],
  ],
  [
    'loggers with a name',
    'import logging\nlog = logging.getLogger("mine.own")\nlog.debug("d")\nlog.warning("w")',
    ['DEBUG d', 'WARNING w'],
  ],
  [
    'basicConfig sets level and form',
    'import logging\nlogging.basicConfig(level=logging.INFO, format="%(levelname)s:%(message)s")\nlogging.debug("d")\nlogging.info("i")\nlogging.error("e")',
    ['INFO INFO:i', 'ERROR ERROR:e'],
  ],
  ['basicConfig without settings', 'import logging\nlogging.basicConfig()\nlogging.info("i")', ['INFO i']],
  [
    'a handler of the user’s',
    'import logging, sys\nlog = logging.getLogger("x")\nlog.addHandler(logging.StreamHandler(sys.stdout))\nlog.warning("w")',
    ['WARNING w'],
  ],
  [
    'a handler on the root',
    'import logging\nlogging.getLogger().addHandler(logging.StreamHandler())\nlogging.getLogger("x").info("i")',
    ['INFO i'],
  ],
  [
    'a handler with a file of its own',
    'import logging\nlogging.getLogger().addHandler(logging.FileHandler("log"))\nlogging.info("i")\nprint(open("log").read())',
    ['INFO i', 'INFO i\n'],
  ],
  [
    'a level of the user’s',
    'import logging\nlogging.getLogger().setLevel(logging.ERROR)\nlogging.warning("w")\nlogging.error("e")',
    ['ERROR e'],
  ],
  ['asyncio says nothing of its own', 'async def main(): print("in")', ['INFO in']],
  [
    'order between levels and streams',
    'import sys, logging\nfor n in range(3):\n    print(n)\n    sys.stderr.write(f"e{n}\\n")\n    logging.debug("d%d", n)',
    [0, 1, 2].flatMap((n) => [`INFO ${n}`, `ERROR e${n}`, `DEBUG d${n}`]),
  ],
  [
    'subprocesses, in order',
    'import subprocess\nprint("a")\nsubprocess.run("echo out; echo err >&2", shell=True)\nprint("b")\nimport os\nos.system("echo sys")\nprint("c")',
    ['INFO a', 'ERROR err', 'INFO out', 'INFO b', 'INFO sys', 'INFO c'],
  ],
  [
    'redirected output stays the user’s',
    'import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as out: print("x")\nprint(repr(out.getvalue()))',
    ["INFO 'x\\n'"],
  ],
  ['text that UTF-8 can’t carry', 'print("a\\ud800")', ['INFO a\\ud800']],
  ['bytes that are no UTF-8', 'import os\nos.write(1, b"a\\xff\\n")', ['INFO a\uFFFD']],
]

describe('what Python code prints', () => {
  test.for(prints)('%s', async ([, source, log]) => {
    const ended = await run(under, source)
    expect(ended.explanation).toBeUndefined()
    // Standard error and output of one command have no order of their own.
    const sorted = (all: string[]) => (source.includes('>&2') ? all.toSorted() : all)
    expect(sorted(lines(ended.log))).toEqual(sorted(log))
  })

  test('warnings are warnings', async () => {
    const { log } = await run(under, 'import warnings\nwarnings.warn("careful")')
    expect(lines(log)).toEqual(['WARNING demo.py:2: UserWarning: careful\n  warnings.warn("careful")'])
  })

  test('an exception that ends a thread is one entry, with the user’s frames', async () => {
    const source =
      'import threading\ndef work(): raise ValueError("t")\nthread = threading.Thread(target=work)\nthread.start()\nthread.join()\nreturn 1'
    const { value, log } = await run(under, source)
    expect(value).toBe(1)
    expect(log).toHaveLength(1)
    expect(lines(log)[0]).toMatch(
      /^ERROR Exception in thread Thread-1[^]*File "demo\.py", line 2, in work[^]*ValueError: t$/,
    )
  })

  test('a log of an exception has its traceback', async () => {
    const { log } = await run(
      under,
      'import logging\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    logging.exception("failed")',
    )
    expect(lines(log)[0]).toMatch(/^ERROR failed\nTraceback[^]*ZeroDivisionError: division by zero$/)
  })

  test('lines are seen while the run is on', async () => {
    const { id } = hand(under, 'import time\nprint("now")\ntime.sleep(1000)', { run: { timeoutMs: 25_000 } })
    await until(() => under.replica.logOf(id).length === 1, { what: 'the line' })
    under.replica.kill(id)
  })

  test('a torrent keeps its order, and is cut where the limit is', async () => {
    const { log } = await run(
      under,
      'import os, sys\nfor n in range(3000):\n    print(n)\n    print(n, file=sys.stderr)\nreturn 1',
    )
    expect(lines(log).slice(0, 4)).toEqual(['INFO 0', 'ERROR 0', 'INFO 1', 'ERROR 1'])
    expect(log).toHaveLength(501)
    expect(log.at(-1)!.message).toMatch(/reached its limit/)
  })

  test('a log is cut where it has 5 MiB, of whatever characters', async () => {
    const { log } = await run(under, 'for n in range(400):\n    print("漢" * 10_000)\nreturn 1')
    expect(log).toHaveLength(175)
    expect(log.at(-1)!.message).toMatch(/reached its limit/)
  })

  test('of a huge line the start is kept', async () => {
    const { log, value } = await run(
      under,
      'print("x" * 50_000_000)\nimport os\nos.write(1, b"y" * 5_000_000)\nreturn 1',
    )
    expect(value).toBe(1)
    expect(
      log.map(({ message }) => message.length < 66_000 && message.endsWith('(the rest of this line was cut)')),
    ).toEqual([true, true])
  })

  test('what a run’s threads print after its answer is not in the log of the next', async () => {
    const noisy =
      'import threading, os\ndef shout():\n    while True: os.write(1, b"noise\\n")\nfor _ in range(3): threading.Thread(target=shout, daemon=True).start()\nreturn 1'
    for (let each = 0; each < 5; each += 1) {
      await run(under, noisy, { spec: { digest: 'same' } })
      expect(lines((await run(under, noisy.replace('return 1', 'return 2').replace(/for _.*\n/, ''))).log)).toEqual([])
    }
  })

  const elsewhere: [guarantee: string, source: string, value: unknown, log: string[]][] = [
    [
      'standard output that code leads into a file',
      `import logging, os, subprocess, sys
log = os.dup(1)
os.dup2(os.open("out", os.O_WRONLY | os.O_CREAT), 1)
print("printed")
sys.stdout.write("written\\n")
subprocess.run(["echo", "by another"])
print("to errors", file=sys.stderr)
logging.error("logged")
os.dup2(log, 1)
print("back")
return open("out").read()`,
      'printed\nwritten\nby another\n',
      ['ERROR logged', 'ERROR to errors', 'INFO back'],
    ],
    [
      'standard error that code leads into a file',
      `import logging, os, subprocess, sys
os.dup2(os.open("out", os.O_WRONLY | os.O_CREAT), 2)
os.write(2, b"raw\\n")
subprocess.run(["sh", "-c", "echo by another >&2"])
print("printed")
print("to errors", file=sys.stderr)
sys.stderr.write("written\\n")
logging.getLogger("own").addHandler(logging.StreamHandler())
logging.getLogger("own").error("logged")
return open("out").read()`,
      'raw\nby another\nto errors\nwritten\nlogged\n',
      ['ERROR logged', 'INFO printed'],
    ],
    [
      'the log of its own of a fork, however long,',
      `import logging, os
if os.fork() == 0:
    own = os.open("out", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(own, 1)
    os.dup2(own, 2)
    for number in range(600):
        logging.info(number)
    os._exit(0)
os.wait()
return len(open("out").readlines())`,
      600,
      [],
    ],
    [
      'standard output of a fork that leads into a pipe',
      `import os
read, write = os.pipe()
if os.fork() == 0:
    os.dup2(write, 1)
    print("from the fork")
    os._exit(0)
os.close(write)
os.wait()
return os.read(read, 99).decode()`,
      'from the fork\n',
      [],
    ],
  ]
  test.for(elsewhere)('%s has plain text', async ([, source, value, log]) => {
    const ended = await run(under, source)
    expect(ended.value).toEqual(value)
    expect(lines(ended.log).sort()).toEqual(log)
  })

  test('of the last words of a death those say where the code was', async () => {
    const { explanation, log } = await run(
      under,
      'import faulthandler, ctypes\nfaulthandler.enable(file=2)\nprint("before")\nctypes.string_at(0)',
    )
    expect(explanation).toBe('Error: The process was ended by SIGSEGV')
    expect(lines(log)).toEqual([
      'INFO before',
      'ERROR Fatal Python error: Segmentation fault',
      'ERROR Current thread (most recent call first):',
      expect.stringMatching(/^ERROR {3}File ".*ctypes\/__init__\.py", line \d+ in string_at$/),
      'ERROR   File "demo.py", line 4 in <module>',
      `ERROR ${explanation}`,
    ])
  })

  test('traces that Python prints have nothing of the runner’s own', async () => {
    const source = `import faulthandler, logging, traceback
def here():
    faulthandler.dump_traceback(file=2, all_threads=False)
    traceback.print_stack()
    logging.warning("%d", "a")
here()`
    const { log } = await run(under, source)
    const said = lines(log).join('\n')
    expect(said).toContain('File "demo.py", line 3 in here')
    expect(said).toContain('File "demo.py", line 4, in here')
    expect(said).toMatch(/--- Logging error ---[^]*TypeError: [^]*File "demo.py", line 5, in here[^]*Message: '%d'/)
    expect(said).not.toMatch(/apps\/runner|libs\/jail|launcher/)
  })

  test('secrets are masked', async () => {
    const variables = [{ key: 'SECRET', value: 'hush-hush', isSensitive: true }]
    const source =
      'print(svc.env.SECRET)\nimport os\nos.write(2, os.environ["SECRET"].encode())\nraise ValueError(svc.env["SECRET"])'
    const { log, explanation } = await run(under, source, { spec: { variables } })
    expect(explanation).toBe('ValueError: ******')
    expect(JSON.stringify(lines(log))).not.toContain('hush')
  })
})
