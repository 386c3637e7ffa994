import { readFileSync } from 'node:fs'
import { until } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { processesWith, sleepMark } from './processes.ts'
import { startRunner, startRunnerWith, type RunnerUnderTest } from './runner-under-test.ts'
import { lines } from './scripted-replica.ts'

let under: RunnerUnderTest
beforeAll(async () => {
  under = await startRunner({ RUN_MEMORY_MB: '128' })
})
afterAll(() => under.stop())

const run = (source: string, options = {}) => under.replica.run(source, options)

// Each detaches in another way, and does not mind SIGTERM.
const stubborn = (seconds: string) => `
  const { spawn, execSync } = require('child_process')
  process.on('SIGTERM', () => {})
  spawn('sh', ['-c', 'trap "" TERM; sleep ${seconds}; sleep ${seconds}'], { stdio: 'ignore' })
  spawn('setsid', ['sleep', '${seconds}'], { detached: true, stdio: 'ignore' }).unref()
  execSync('(setsid sh -c "(trap : TERM; sleep ${seconds}) & sleep ${seconds}" >/dev/null 2>&1 &)')
  console.log('spawned')`

describe('time', () => {
  test.for([
    ['an endless loop', 'for (;;);'],
    ['an endless wait', 'await new Promise((r) => setTimeout(r, 1e6))'],
    ['one that ignores SIGTERM', 'process.on("SIGTERM", () => {}); for (;;);'],
  ])('%s ends when its time is over', async ([, source]) => {
    const { explanation, log } = await run(source!, { run: { timeoutMs: 200 } })
    expect(explanation).toBe('TimeoutError: The run took longer than the 0.2 s that it was given')
    expect(lines(log)).toEqual([`ERROR ${explanation}`])
  })

  test('what it had printed is kept', async () => {
    const { log } = await run('console.log("before"); process.stdout.write("partial"); for (;;);', {
      run: { timeoutMs: 2000 },
    })
    expect(lines(log).slice(0, 2)).toEqual(['INFO before', 'INFO partial'])
  })
})

describe('memory', () => {
  test.for([
    [
      'heap',
      'const a = []; for (;;) a.push(new Array(10000).fill(1.5))',
      /^OutOfMemoryError: The run is out of memory: it may use 128 MiB$/,
    ],
    ['buffers', 'const a = []; for (;;) a.push(Buffer.alloc(5e6, 1))', /out of memory/],
    [
      'web assembly',
      'const a = []; for (;;) a.push(new WebAssembly.Memory({ initial: 500 })).valueOf()',
      /out of memory/,
    ],
    [
      'a thread’s heap',
      `const { Worker } = require('worker_threads')
       new Worker('const a = []; for (;;) a.push(new Array(10000).fill(1.5))', { eval: true })
       await new Promise((r) => setTimeout(r, 1e6))`,
      /^OutOfMemoryError: /,
    ],
  ] as const)('a bomb of %s ends only its run, in words', async ([, source, explanation]) => {
    const ended = await run(source)
    expect(ended.explanation).toMatch(explanation)
    expect(lines(ended.log)).toEqual([expect.stringContaining(`ERROR ${ended.explanation}`)])
    expect((await run('return 1')).value).toBe(1)
  })

  test('several threads have room beside each other', async () => {
    const { value, explanation } = await run(`import { Worker } from 'node:worker_threads'
      const code = 'require("worker_threads").parentPort.on("message", (n) => process.exit(n))'
      const threads = [1, 2, 3].map(() => new Worker(code, { eval: true }))
      await Promise.all(threads.map((each) => new Promise((ok, no) => each.on('online', ok).on('error', no))))
      const ends = threads.map((each) => new Promise((ok) => each.on('exit', ok)))
      threads.forEach((each, at) => each.postMessage(at))
      return [await Promise.all(ends), threads.every((each) => each instanceof Worker)]`)
    expect(explanation).toBeUndefined()
    expect(value).toEqual([[0, 1, 2], true])
  })

  test('of a subprocess that is out of memory, a run that goes on has one line in its log', async () => {
    const bomb = 'const a = []; for (;;) a.push(new Array(10000).fill(1.5))'
    const { log, value } = await run(`const { spawnSync } = require('child_process')
      const options = ['--max-old-space-size=16', '-e', ${JSON.stringify(bomb)}]
      const { signal } = spawnSync(process.execPath, options, { stdio: 'inherit' })
      spawnSync('sh', ['-c', 'echo after >&2'], { stdio: 'inherit' })
      return signal`)
    expect(value).toBe('SIGABRT')
    expect(lines(log)).toEqual([
      expect.stringMatching(/^ERROR FATAL ERROR: .*JavaScript heap out of memory$/),
      'ERROR after',
    ])
  })

  test('what the processes of a run hold together counts', async () => {
    const hog = `require('child_process').spawn(process.execPath, ['-e', 'const b = Buffer.alloc(100e6, 1); setTimeout(() => b, 1e6)'])`
    const ended = await run(`${hog}; ${hog}; ${hog}; await new Promise((r) => setTimeout(r, 1e6))`)
    expect(ended.explanation).toMatch(/^OutOfMemoryError/)
  })

  test('a run may use what it is given', async () => {
    expect(
      (await run('const a = Buffer.alloc(60e6, 1), b = new Array(5e6).fill(1.5); return a.length + b.length')).value,
    ).toBe(65e6)
  })
})

describe('the end of a run leaves nothing', () => {
  test('a kill ends all its processes, and its slot is free again', async () => {
    const mark = sleepMark()
    const { id } = under.replica.hand(`${stubborn(mark)}\nawait new Promise((r) => setTimeout(r, 1e6))`)
    await until(() => under.replica.logOf(id).length > 0)
    await until(() => processesWith(`sleep\x00${mark}`).length > 2)
    under.replica.kill(id)
    await until(() => processesWith(mark).length === 0, { what: 'all are gone' })
    await until(() => under.replica.credit === 64, { what: 'the slot' })
    expect(under.replica.results.some(({ executionId }) => executionId === id)).toBe(false)
  })

  test('a value does, too', async () => {
    const mark = sleepMark()
    expect((await run(`${stubborn(mark)}\nreturn 1`)).value).toBe(1)
    await until(() => processesWith(mark).length === 0)
  })

  test('and a time-out', async () => {
    const mark = sleepMark()
    await run(`${stubborn(mark)}\nfor (;;);`, { run: { timeoutMs: 500 } })
    expect(processesWith(mark)).toEqual([])
  })

  test('and a death', async () => {
    const mark = sleepMark()
    await run(`${stubborn(mark)}\nprocess.kill(process.pid, 'SIGKILL')`)
    expect(processesWith(mark)).toEqual([])
  })

  test('SIGTERM comes first, so that a run can put its things in order', async () => {
    const { id } = under.replica.hand(
      'process.on("SIGTERM", () => { console.log("bye"); process.exit() }); console.log("on"); setInterval(() => {}, 1e6); await new Promise(() => {})',
    )
    await until(() => under.replica.logOf(id).length === 1)
    under.replica.kill(id)
    await until(() => under.replica.logOf(id).length === 2)
    expect(lines(under.replica.logOf(id))).toEqual(['INFO on', 'INFO bye'])
  })

  test('a run that was killed before it began never begins', async () => {
    const other = await startRunnerWith({ children: { spares: 0 } })
    const first = other.replica.hand('console.log("began"); return 1')
    other.replica.kill(first.id)
    await until(() => other.replica.credit === 64)
    await other.stop()
    expect(other.replica.results).toEqual([])
    expect(other.replica.logOf(first.id)).toEqual([])
  })
})

describe('a hostile child speaks only for its own run, and within bounds', () => {
  const frame = (type: string, run: string, body: string) =>
    `const body = Buffer.from(${body}); const head = Buffer.alloc(9); head.writeUInt32LE(body.length + 5); head[4] = ${JSON.stringify(type)}.charCodeAt(0); head.writeUInt32LE(${run}, 5); require('fs').writeSync(4, Buffer.concat([head, body])); await new Promise((r) => setTimeout(r, 1e6))`
  test.for([
    [
      'a length beyond all bounds',
      'require("fs").writeSync(4, Buffer.from("ffffffff00", "hex")); await new Promise((r) => setTimeout(r, 1e6))',
    ],
    ['an unknown type', frame('?', '1', '""')],
    ['a word of a child of Python', frame('T', '1', '"shared"')],
    ['another run', frame('V', '99', '"\\0001"')],
    ['a value that is no JSON', frame('V', '1', '"\\0{oops"')],
    ['a value with raw control characters', frame('V', '1', '"\\0\\"a\\0b\\""')],
    ['a value without a text', frame('V', '1', '"\\0"')],
    ['a failure that is no JSON', frame('E', '1', '"oops"')],
    ['a call that is none', frame('C', '1', '"{}"')],
  ])('%s', async ([, source]) => {
    const { explanation } = await run(source!, { run: { freshProcess: true } })
    expect(explanation).toMatch(/^Error: The process broke its channel: /)
  })

  test('a run that has been answered can say no more', async () => {
    const more = `const b = Buffer.alloc(10); b.writeUInt32LE(6); b[4] = 86; b.writeUInt32LE(1, 5); b[9] = 0`
    const ended = await run(`${more}; process.on('exit', () => require('fs').writeSync(4, b)); return 1`, {
      run: { freshProcess: true },
    })
    expect(ended.value).toBe(1)
    expect((await run('return 2')).value).toBe(2)
  })

  const answer = `require('fs').writeSync(4, Buffer.from([7, 0, 0, 0, 86, 1, 0, 0, 0, 0, 49]))`
  const printOn = `const lines = Buffer.alloc(65536, 10); for (;;) require('fs').writeSync(1, lines)`
  const large = 'const said = Buffer.alloc(65536); said.writeUInt32LE(65532); said[4] = 67; said[5] = 1'
  test.for([
    ['that has said its value itself', `${answer}; ${printOn}`],
    ['as calls, once it has said its value', `${answer}; ${large}; for (;;) require('fs').writeSync(4, said)`],
    ['that does not mind SIGTERM', `process.on('SIGTERM', () => {}); ${printOn}`],
  ])('what a run prints on %s is not read as fast as it comes', async ([, source]) => {
    const bytesRead = () => Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))![1])
    const before = bytesRead()
    await run(source!, { run: { freshProcess: true, timeoutMs: 500 } })
    await under.settled()
    expect(bytesRead() - before).toBeLessThan(150e6)
  })

  test('a run that does nothing but say what is not due is ended', async () => {
    const frames = `const frames = Buffer.alloc(63_000); for (let at = 0; at < 63_000; at += 9) { frames[at] = 5; frames[at + 4] = 84; frames[at + 5] = 1 }`
    const source = `${frames}; for (;;) require('fs').writeSync(4, frames)`
    const { explanation } = await run(source, { run: { freshProcess: true } })
    expect(explanation).toBe('Error: The process broke its channel: a frame of type 84')
  })

  test.for([
    ['that it is clean', frame('K', '1', '""')],
    ['that it is not', frame('X', '1', '""')],
  ])('a word %s while its run is on ends the run, which is not begun again', async ([, source]) => {
    const ended = await run(`console.log("began")\n${source}`, { run: { freshProcess: true } })
    expect(ended.explanation).toMatch(/^Error: The process /)
    expect(lines(ended.log).filter((line) => line === 'INFO began')).toHaveLength(1)
  })
})
