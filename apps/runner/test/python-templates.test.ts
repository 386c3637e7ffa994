import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DependencySetSchema } from '@automation/contract/catalog/v1/resolve'
import { create } from '@bufbuild/protobuf'
import { Language } from '@automation/contract/common/v1/language'
import { until } from '@automation/testing'
import { littleRegistry } from '@automation/testing/little-registry'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cloneParent, importingPackages } from './importing-packages.ts'
import { stillRunning } from './processes.ts'
import { run } from './python-run.ts'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'
import { lines, type Ended, type RunOptions } from './scripted-replica.ts'

const folder = mkdtempSync(join(tmpdir(), 'python-templates-'))
const dependencies = create(DependencySetSchema, { key: randomUUID(), packages: { imported: '*' } })
let registry: Awaited<ReturnType<typeof littleRegistry>>
let under: RunnerUnderTest

beforeAll(async () => {
  registry = await littleRegistry({}, { imported: { version: '1.0.0', entries: importingPackages } })
  under = await startRunner({ ...registry.settings, RUNNER_DEPENDENCIES_DIR: folder })
  const spec = { language: Language.PYTHON, dependencies, isInstall: true }
  expect((await under.replica.run('', { spec })).explanation).toBeUndefined()
})
afterAll(async () => {
  await under.stop()
  await registry.close()
  rmSync(folder, { recursive: true, force: true })
})

async function runWith(source: string, { spec, ...options }: RunOptions = {}): Promise<Ended> {
  const ended = await run(under, source, { ...options, spec: { ...spec, dependencies } })
  await under.settled()
  return ended
}

/** What runs of a source give, one after the other. */
async function runs(source: string, count: number, options?: RunOptions): Promise<Ended[]> {
  const all: Ended[] = []
  while (all.length < count) all.push(await runWith(source, options))
  return all
}

const valuesOf = (all: Ended[]) => {
  expect(all.map(({ explanation }) => explanation)).toEqual(all.map(() => undefined))
  return all.map(({ value }) => value as unknown[])
}
const distinct = (values: unknown[]) => new Set(values.map((each) => JSON.stringify(each))).size

/** How often three runs of a version import this module. */
async function importsOf(name: string, before = ''): Promise<number> {
  return distinct(valuesOf(await runs(`${before}import ${name}\nreturn ${name}.now`, 3)))
}

describe('what the source imports at its top', () => {
  test('is imported once for its runs, which are processes of their own', async () => {
    const all = valuesOf(await runs('"""What it does."""\nimport os\nimport plain\nreturn [plain.now, os.getpid()]', 3))
    expect(distinct(all.map(([now]) => now))).toBe(1)
    expect(distinct(all.map(([, pid]) => pid))).toBe(3)
  })

  test('is what stands before anything else', async () => {
    expect(await importsOf('plain', 'import os\nos.environ["B"] = "1"\n')).toBe(3)
    expect(await importsOf('plain', 'from __future__ import annotations\nfrom draws import own\n')).toBe(1)
  })

  test('is that of a team’s module, too, up to what that does itself', async () => {
    const helper = { name: 'helper', sourceCode: 'import plain\nimport svc\nvalue = [plain.now, svc.execution.id]\n' }
    const options = (executionId: string) => ({
      run: { executionId },
      spec: {
        digest: 'with a module',
        modules: [{ ...helper, imports: [] }],
        imports: [{ name: 'helper', tag: '', module: 0 }],
      },
    })
    const source = 'import helper\nreturn helper.value'
    const all = valuesOf([await runWith(source, options('a')), await runWith(source, options('b'))])
    expect(distinct(all.map(([now]) => now))).toBe(1)
    expect(all.map(([, id]) => id)).toEqual(['a', 'b'])
  })

  test('is imported by each run where it wants a fresh process', async () => {
    const all = await runs('import plain\nreturn [plain.now, "fresh"]', 2, { run: { freshProcess: true } })
    expect(distinct(valuesOf(all))).toBe(2)
  })

  test('sees the variables of its team, also when they change', async () => {
    const source = 'import reads\nreturn [reads.now, reads.variable]'
    const withA = (value: string) => ({ spec: { digest: 'reads', variables: [{ key: 'A', value }] } })
    const all = [...valuesOf(await runs(source, 2, withA('1'))), ...valuesOf(await runs(source, 3, withA('2')))]
    expect(all.map(([, variable]) => variable)).toEqual(['1', '1', '2', '2', '2'])
    expect(distinct(all.map(([now]) => now))).toBe(2)
  })

  test('is imported anew where its process has another name, which its runs see', async () => {
    const named = (processName: string) => ({ spec: { digest: 'renamed', processName } })
    const source = 'import plain\nreturn svc.execution.process.name'
    expect(valuesOf(await runs(source, 2, named('before')))).toEqual(['before', 'before'])
    expect(valuesOf(await runs(source, 3, named('after')))).toEqual(['after', 'after', 'after'])
  })

  test('sees the directory that its runs have', async () => {
    const source =
      'import reads, os, tempfile\nfrom plain import now\nopen("left", "w").close()\nreturn [now, os.listdir(), reads.home == os.environ["HOME"] == os.getcwd() == tempfile.gettempdir(), reads.place == os.getcwd()]'
    const all = valuesOf(await runs(source, 3))
    expect(all.map(([, ...seen]) => seen)).toEqual(all.map(() => [['left'], true, true]))
    expect(distinct(all.map(([now]) => now))).toBe(1)
  })
})

describe('a run', () => {
  test('sees nothing of the one before it', async () => {
    const source = `import plain, os, sys
left = [getattr(plain, "left", None), os.environ.get("LEFT"), os.listdir(), "left" in sys.modules]
plain.left = os.environ["LEFT"] = "x"
sys.modules["left"] = plain
open("left", "w").close()
return [left, plain.now]`
    const all = valuesOf(await runs(source, 3))
    expect(all.map(([left]) => left)).toEqual(all.map(() => [null, null, [], false]))
    expect(distinct(all.map(([, now]) => now))).toBe(1)
  })

  test.for(['', 'if __name__ == "__main__":\n    main()'])('alone calls main, with %j in the source', async (guard) => {
    const main = 'calls = []\ndef main():\n    calls.append(os.getpid())\n    return [plain.now, *calls]\n'
    const all = valuesOf(await runs(`import plain, os\n${main}${guard}`, 3))
    expect(all.map(({ length }) => length)).toEqual([2, 2, 2])
    expect(distinct(all.map(([now]) => now))).toBe(1)
    expect(distinct(all.map(([, pid]) => pid))).toBe(3)
  })

  test('draws random numbers of its own, but for those that were seeded', async () => {
    const source =
      'import draws, random, uuid, tempfile\nreturn [random.random(), draws.own.random(), str(uuid.uuid4()), next(tempfile._get_candidate_names()), draws.fixed.random(), draws.later.random(), draws.now]'
    const all = valuesOf(await runs(source, 3)) as unknown[][]
    for (const at of [0, 1, 2, 3]) expect(distinct(all.map((each) => each[at]))).toBe(3)
    for (const at of [4, 5, 6]) expect(distinct(all.map((each) => each[at]))).toBe(1)
  })

  test('ends with all that it has started, and the next ones go on', async () => {
    const source =
      'import plain, os, subprocess\nfound = subprocess.run(["sh", "-c", "cat /proc/[0-9]*/cmdline"], capture_output=True).stdout.count(b"6543")\nsubprocess.Popen(["sleep", "6543"], start_new_session=True)\nif os.fork() == 0:\n    os.setsid()\n    os.execvp("sleep", ["sleep", "6543"])\nreturn found'
    expect(valuesOf(await runs(source, 3))).toEqual([0, 0, 0])
  })

  test('starts none that is not below it', async () => {
    const source = `import plain, ctypes, os, time
number = 220 if os.uname().machine == "aarch64" else 56
made = ctypes.CDLL(None, use_errno=True).syscall(number, ${cloneParent}, 0, 0, 0, 0)
if made == 0: time.sleep(1000)
return [made, ctypes.get_errno(), plain.now]`
    const all = valuesOf(await runs(source, 2))
    expect(all.map(([made, error]) => [made, error])).toEqual(all.map(() => [-1, constants.errno.EPERM]))
    expect(distinct(all.map(([, , now]) => now))).toBe(1)
  })

  test('has a main thread that the C library knows, with and without a template', async () => {
    const source = `import signal, threading
got = []
signal.signal(signal.SIGUSR2, lambda *_: got.append(1))
threading.Thread(target=lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR2)).start()
while not got and threading.active_count() > 1: pass
return got`
    const all = [...(await runs(source, 2)), ...(await runs(`import plain\n${source}`, 2))]
    expect(valuesOf(all)).toEqual([[1], [1], [1], [1]])
  })

  test('has no descriptors but its own', async () => {
    const source =
      'import plain, os\nfound = []\nfor each in range(5, 1024):\n    try:\n        os.fstat(each)\n        found.append(each)\n    except OSError: pass\nreturn found'
    expect(valuesOf(await runs(source, 2))).toEqual([[], []])
  })

  test.for([
    ['a kill of itself', 'os.kill(os.getpid(), 9)', 'Error: The process was ended by SIGKILL'],
    ['an exit', 'os._exit(4)', 'Error: The process ended (exit code 4) before the run had a value'],
    ['an exception', 'raise ValueError("x")', 'ValueError: x'],
  ])('that ends by %s says so, and the next one goes on', async ([, how, explanation]) => {
    const source = `import plain, os\nif svc.context.parameters.ends:\n    ${how}\nreturn plain.now`
    const [first] = valuesOf([await runWith(source, { parameters: { ends: false } })])
    expect((await runWith(source, { parameters: { ends: true } })).explanation).toBe(explanation)
    expect(valuesOf([await runWith(source, { parameters: { ends: false } })])).toEqual([first])
  })
})

test('an import that answers a run ends it for good', async () => {
  const source = 'import answers\nprint("begun")\nreturn svc.context.parameters'
  const withA = (value: string) => ({ spec: { digest: 'answers', variables: [{ key: 'A', value }] } })
  const first = await runWith(source, { ...withA('1'), parameters: 'of the first' })
  expect(first.explanation).toMatch(/broke its channel/)
  const next = await runWith(source, { ...withA('2'), parameters: 'of the next' })
  expect([next.explanation, next.value, lines(next.log)]).toEqual([undefined, 'of the next', ['INFO begun']])
})

describe('what an import does once, each run has anew:', () => {
  test.for([
    ['prints', ['INFO while importing']],
    ['errs', ['ERROR while importing']],
    ['warns', ['WARNING /opt/automation/dependencies/site-packages/warns.py:5: UserWarning: while importing']],
    ['logs', ['INFO while importing']],
    ['says', ['INFO first', 'ERROR while importing', 'INFO while importing', 'INFO last']],
  ] as const)('what it says: %s', async ([name, said]) => {
    const all = await runs(`import ${name}\nprint("after")\nreturn ${name}.now`, 3)
    expect(distinct(valuesOf(all))).toBe(1)
    for (const { log } of all) {
      expect(lines(log).map((each) => each.split('\n')[0])).toEqual([...said, 'INFO after'])
    }
  })

  test('what it writes into the directory of the run', async () => {
    const source = `import writes, os
place = ".cache/own/list"
with open(place) as file: text = file.read()
seen = [sorted(os.listdir()), text, os.stat(place).st_mtime]
with open(place, "w") as file: file.write("changed")
open("left", "w").close()
return [writes.now, *seen]`
    const all = valuesOf(await runs(source, 3))
    expect(distinct(all.map(([now]) => now))).toBe(1)
    for (const [, ...seen] of all) expect(seen).toEqual([['.cache', '.config'], 'kept', 1])
  })
})

describe('each run imports for itself where the import', () => {
  test.for(
    [
      'floods',
      'threads',
      'opens',
      'connects',
      'forks',
      'writes_much',
      'links',
      'locks_up',
      'moves',
      'shares',
      'locks',
      'alarms',
      'seeds',
      'reseeds',
      'derives',
    ].map((name) => [name]),
  )('%s', async ([name]) => {
    expect(await importsOf(name!)).toBe(3)
  })

  test.for(['of_team', 'perhaps_of_team'])('leads to a module of the team: %s', async (name) => {
    const spec = {
      digest: name,
      modules: [{ name: 'helper', sourceCode: 'import svc\nvalue = svc.execution.id\n', imports: [] }],
      imports: [{ name: 'helper', tag: '', module: 0 }],
    }
    const source = `import ${name}\nimport helper\nreturn ${name}.helper.value`
    const values: unknown[] = []
    for (const executionId of ['a', 'b'])
      values.push(...valuesOf([await runWith(source, { spec, run: { executionId } })]))
    expect(values).toEqual(['a', 'b'])
  })
})

test('a version whose imports are there already costs its child no look at all that is there', async () => {
  const source = 'import gc, os\nreturn [os.getppid(), gc.get_stats()[2]["collections"]]'
  const [first, second] = valuesOf(await runs(source, 2))
  expect(second).toEqual(first)
})

test('whether a version’s runs share what it imports is to be seen', async () => {
  await runWith('import plain\nreturn "seen"')
  expect(await under.metric('runner_python_imports', 'shared')).toBeGreaterThan(0)
  await runWith('import floods\nreturn "seen"')
  expect(await under.metric('runner_python_imports', 'output')).toBeGreaterThan(0)
})

test('an import that goes on and prints when its run is over ends with its child', async () => {
  const source = 'import lurks, os\nreturn [lurks.pid, os.getpid()]'
  const [[template, own]] = valuesOf([await runWith(source)]) as [[number, number]]
  expect(template).not.toBe(own)
  await until(() => stillRunning([String(template)]).length === 0, { what: 'its child has ended' })
})

test('an import sees nothing of what its first run is given', async () => {
  const source = 'import peeks\nreturn peeks.seen'
  expect(valuesOf(await runs(source, 2, { parameters: 'a7secret' }))).toEqual([false, false])
})

test('settings that an import makes are those of its runs', async () => {
  const source =
    'import os, unsets, socket\nreturn [unsets.now, socket.getdefaulttimeout(), "TMP_DATA_DIR" in os.environ]'
  const all = valuesOf(await runs(source, 3))
  expect(all.map(([, ...settings]) => settings)).toEqual(all.map(() => [0.001, false]))
  expect(distinct(all.map(([now]) => now))).toBe(1)
})

test('an import that never ends counts to the time of its run', async () => {
  const ended = await runWith('import hangs\nprint("begun")', { run: { timeoutMs: 1500 } })
  expect(ended.explanation).toMatch(/^TimeoutError/)
  expect(lines(ended.log).join()).not.toContain('begun')
})

test('an import that wants the orphans below it does not get the runs', async () => {
  expect(await importsOf('adopts')).toBe(1)
})

test('handlers for forks that a library of an import may have are called', async () => {
  const all = valuesOf(await runs('import handles\nreturn [handles.called, handles.now]', 2))
  expect(distinct(all.map(([, now]) => now))).toBe(1)
  for (const [called] of all) expect(called).toContain(1)
})

test('an import that starts what is not below it has no template', async () => {
  expect(await importsOf('hides')).toBe(3)
})

test('a subprocess that an import waited for is nothing unusual', async () => {
  expect(await importsOf('asks')).toBe(1)
})

describe('an import that ends a run does so in each of its runs', () => {
  test.for([
    ['fails', 'ValueError: no import'],
    ['exits', 'SystemExit: sys.exit(3) was called before the run had a value'],
    ['dies', 'Error: The process was ended by SIGKILL'],
    ['ends', 'Error: The process ended (exit code 4) before the run had a value'],
    ['nowhere', "ModuleNotFoundError: No module named 'nowhere'"],
  ])('%s', async ([name, explanation]) => {
    for (const ended of await runs(`import ${name}\nreturn 1`, 2)) {
      expect(ended.explanation).toContain(explanation)
      if (name === 'fails') expect(lines(ended.log).join('\n')).toMatch(/line 1, in <module>[^]*fails\.py", line 4/)
    }
  })
})
