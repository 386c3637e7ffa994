import { until } from '@automation/testing'
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Language } from '@automation/contract/common/v1/language'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { processesWith, sleepMark } from './processes.ts'
import { hand, run } from './python-run.ts'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'
import { lines } from './scripted-replica.ts'

let under: RunnerUnderTest
beforeAll(async () => {
  under = await startRunner({ RUN_MEMORY_MB: '128' })
})
afterAll(() => under.stop())

// Each detaches in another way, and does not mind SIGTERM.
const stubborn = (seconds: string) => `
import os, signal, subprocess, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sh", "-c", 'trap "" TERM; sleep ${seconds}; sleep ${seconds}'])
subprocess.Popen(["sleep", "${seconds}"], start_new_session=True)
os.system('(setsid sh -c "(trap : TERM; sleep ${seconds}) & sleep ${seconds}" >/dev/null 2>&1 &)')
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "${seconds}"])
    os._exit(0)
print("spawned")
`

describe('time', () => {
  test.for([
    ['an endless loop', 'while True: pass'],
    ['an endless wait', 'import time\ntime.sleep(1000)'],
    ['an endless wait in async code', 'import asyncio\nasync def main(): await asyncio.sleep(1000)'],
    ['one that ignores SIGTERM', 'import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass'],
    ['one that catches everything', 'while True:\n    try:\n        while True: pass\n    except BaseException: pass'],
  ])('%s ends when its time is over', async ([, source]) => {
    const { explanation, log } = await run(under, source!, { run: { timeoutMs: 200 } })
    expect(explanation).toBe('TimeoutError: The run took longer than the 0.2 s that it was given')
    expect(lines(log)).toEqual([`ERROR ${explanation}`])
  })

  test('one that minds SIGTERM ends at once, and what it had printed is kept', async () => {
    const times: number[] = []
    // Once is enough on a machine that is slow now and then.
    do {
      const since = performance.now()
      const { log } = await run(under, 'print("before")\nprint("partial", end="")\nwhile True: pass', {
        run: { timeoutMs: 1000 },
      })
      times.push(performance.now() - since)
      expect(lines(log).slice(0, 2)).toEqual(['INFO before', 'INFO partial'])
    } while (Math.min(...times) > 1900 && times.length < 10)
    expect(Math.min(...times)).toBeLessThan(1900)
  })
})

describe('memory', () => {
  test.for([
    ['a list', 'a = []\nwhile True: a.append([1.5] * 10000)'],
    ['many objects', 'a = []\nwhile True: a.append(object())'],
    ['bytes', 'a = []\nwhile True: a.append(bytearray(5_000_000))'],
    ['one string', 'a = "x" * 10 ** 10'],
    [
      'threads that hold much',
      'import threading\na = []\ndef work():\n    while True: a.append(bytearray(1_000_000))\nthread = threading.Thread(target=work)\nthread.start()\nthread.join()\nreturn "x" * 200_000_000',
    ],
    ['a function’s own names', 'def main():\n    a = []\n    while True: a.append(list(range(1000)))'],
  ] as const)('a bomb of %s ends only its run, in words', async ([, source]) => {
    const ended = await run(under, source)
    expect(ended.explanation).toBe('OutOfMemoryError: The run is out of memory: it may use 128 MiB')
    expect((await run(under, 'return 1')).value).toBe(1)
  })

  test('where memory ran out is told', async () => {
    const { log } = await run(under, 'def fill():\n    return bytearray(10 ** 9)\nfill()')
    expect(lines(log).at(-1)).toMatch(/^ERROR OutOfMemoryError: [^]*File "demo\.py", line 2, in fill/)
  })

  test('what the processes of a run hold together counts', async () => {
    const source =
      'import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n        held = b"x" * 90_000_000\n        time.sleep(1000)\ntime.sleep(1000)'
    expect((await run(under, source)).explanation).toMatch(/^OutOfMemoryError/)
  })

  test('a run may use what it is given', async () => {
    expect((await run(under, 'return len(bytearray(60_000_000)) + len([1.5] * 5_000_000)')).value).toBe(65e6)
  })
})

describe('the end of a run leaves nothing', () => {
  test('a kill ends all its processes, and its slot is free again', async () => {
    const mark = sleepMark()
    const { id } = hand(under, `${stubborn(mark)}\ntime.sleep(1000)`)
    await until(() => under.replica.logOf(id).length > 0)
    await until(() => processesWith(`sleep\x00${mark}`).length > 3)
    under.replica.kill(id)
    await until(() => processesWith(mark).length === 0, { what: 'all are gone' })
    await until(() => under.replica.credit === 64, { what: 'the slot' })
  })

  test.for([
    ['a value', 'return 1'],
    ['a death', 'os.kill(os.getpid(), signal.SIGKILL)'],
    ['an exit', 'os._exit(0)'],
    ['an exception', 'raise ValueError'],
  ])('%s does, too, and the child goes on', async ([, last]) => {
    const mark = sleepMark()
    await run(under, `${stubborn(mark)}\n${last}`)
    await until(() => processesWith(`sleep\x00${mark}`).length === 0)
  })

  test('SIGTERM comes first, so that a run can put its things in order', async () => {
    const source =
      'import signal, sys, time\ndef bye(*_):\n    print("bye")\n    sys.exit()\nsignal.signal(signal.SIGTERM, bye)\nprint("on")\ntime.sleep(1000)'
    const { id } = hand(under, source)
    await until(() => under.replica.logOf(id).length === 1)
    under.replica.kill(id)
    await until(() => under.replica.logOf(id).length === 2)
    expect(lines(under.replica.logOf(id))).toEqual(['INFO on', 'INFO bye'])
  })
})

describe('a Python that is no program of its own', () => {
  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'linked-python-'))
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  test.for([
    ['a link', (real: string) => symlinkSync(real, join(directory, 'python3'))],
    [
      'of a virtual environment',
      (real: string) => {
        execFileSync(real, ['-m', 'venv', '--without-pip', directory])
      },
    ],
  ] as const)('%s: runs have the same isolation, and see the program itself', async ([name, make]) => {
    make(executable())
    const python = join(directory, name === 'a link' ? 'python3' : 'bin/python3')
    const linked = await startRunner({ RUNNER_PYTHON: python })
    try {
      const isolationOf = async ({ runner }: RunnerUnderTest) =>
        (await runner.ready()).find((check) => check.name === 'isolation')
      expect(await isolationOf(linked)).toEqual(await isolationOf(under))
      const { value } = await run(linked, 'import sys\nreturn sys.executable')
      expect(value).toBe(realpathSync(executable()))
    } finally {
      await linked.stop()
    }
  })
})

const executable = () =>
  execFileSync('python3', ['-c', 'import sys; print(sys._base_executable)'], { encoding: 'utf8' }).trim()

describe('an older Python', () => {
  let directory: string
  let older: RunnerUnderTest
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'old-python-'))
    writeFileSync(join(directory, 'python'), `#!/bin/sh\necho ${executable()}\necho 3.10.9\n`, { mode: 0o755 })
    older = await startRunner({ RUNNER_PYTHON: join(directory, 'python') })
  })
  afterAll(async () => {
    await older.stop()
    rmSync(directory, { recursive: true })
  })

  test('runs JavaScript, and answers Python plainly', async () => {
    expect((await older.replica.run('return 1')).value).toBe(1)
    const ended = await run(older, 'return 1')
    expect(ended.explanation).toBe(
      'Error: Python processes need Python 3.11 or later; this runner has 3.10.9 (RUNNER_PYTHON)',
    )
    expect(lines(ended.log)).toEqual([`ERROR ${ended.explanation}`])
  })

  test('one that can not run the launcher either is refused at the start', async () => {
    const python = join(directory, 'python3.7')
    writeFileSync(python, `#!/bin/sh\necho ${executable()}\necho 3.7.16\n`, { mode: 0o755 })
    await expect(startRunner({ RUNNER_PYTHON: python })).rejects.toThrow(
      `The service needs Python 3.8 or later to start users' code, and '${python}' is 3.7.16. Install a newer one, or name it in RUNNER_PYTHON.`,
    )
  })

  test('is told in the session and in the checks', async () => {
    expect(older.replica.hellos[0]!.languages).toEqual([Language.JAVASCRIPT])
    const checks = await older.runner.ready()
    expect(checks.find(({ name }) => name === 'python')).toMatchObject({
      ok: true,
      detail: expect.stringContaining('3.10.9'),
    })
  })
})
