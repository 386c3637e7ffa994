import { createServer } from 'node:http'
import { listening } from '@automation/testing/listening'
import { LogLevel } from '@automation/contract/execution/v1/execution'
import { memoryAtRest, memoryHeld, until } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRunner, startRunnerWith, type RunnerUnderTest } from './runner-under-test.ts'
import { lines } from './scripted-replica.ts'

let under: RunnerUnderTest
beforeAll(async () => {
  under = await startRunner({ LOG_MAX_LINES: '2000', LOG_MAX_BYTES: '1000000' })
})
afterAll(() => under.stop())

const logged = async (source: string, options = {}) => lines((await under.replica.run(source, options)).log)

test('each kind of console has its level, and the order of the calls', async () => {
  const source =
    'console.debug("d"); console.log("l"); console.info("i"); console.warn("w"); console.error("e"); console.assert(1 > 2, "no")'
  expect(await logged(source)).toEqual([
    'DEBUG d',
    'INFO l',
    'INFO i',
    'WARNING w',
    'ERROR e',
    'WARNING Assertion failed: no',
  ])
})

test('values are formatted as Node formats them', async () => {
  const source = `
    console.log('%s is %d', 'a', 1, { b: [1, { c: { d: 1 } }] })
    console.log('100%'); console.log(); console.log('%s')
    console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 })
    console.table([{ a: 1 }])
    console.group('g'); console.log('inside'); console.groupEnd(); console.log('outside')
    console.count(); console.count(); console.countReset(); console.count()`
  expect(await logged(source)).toEqual([
    'INFO a is 1 { b: [ 1, { c: [Object] } ] }',
    'INFO 100%',
    'INFO ',
    'INFO %s',
    'INFO { a: [Object] }',
    'INFO ┌─────────┬───┐\n│ (index) │ a │\n├─────────┼───┤\n│ 0       │ 1 │\n└─────────┴───┘',
    'INFO g',
    'INFO   inside',
    'INFO outside',
    'INFO default: 1',
    'INFO default: 2',
    'INFO default: 1',
  ])
})

test('time and trace', async () => {
  const [time, trace] = await logged(
    'console.time("t"); console.timeEnd("t"); function f() { console.trace("here") }\nf()',
  )
  expect(time).toMatch(/^INFO t: [\d.]+ms$/)
  expect(trace).toMatch(/^ERROR Trace: here\n {4}at f \(demo.js:1:\d+\)/)
})

test('raw output is cut into lines, of all ways in order', async () => {
  const source = `
    const fs = require('fs')
    console.log('1'); fs.writeSync(1, '2\\n3\\n'); process.stdout.write('4\\r\\n'); console.log('5')
    process.stdout.write('6'); process.stdout.write('6\\n'); process.stderr.write('7\\n'); console.log('8'); process.stdout.write('last')`
  const numbers = ['1', '2', '3', '4', '5', '66']
  expect(await logged(source)).toEqual([...numbers.map((each) => `INFO ${each}`), 'ERROR 7', 'INFO 8', 'INFO last'])
})

test('output of subprocesses is there, with its level', async () => {
  const source =
    'require("child_process").execSync("echo out; echo err >&2", { stdio: "inherit" }); console.log("after")'
  const log = await logged(source)
  expect(log.toSorted()).toEqual(['ERROR err', 'INFO after', 'INFO out'])
  expect(log.indexOf('INFO out')).toBeLessThan(log.indexOf('INFO after'))
})

test('output of subprocesses comes in the order of the calls, of both kinds', async () => {
  const source = `
    const { execSync, spawnSync, spawn } = require('child_process')
    for (let i = 0; i < 10; i++) {
      console.log('a'); execSync('echo e1 >&2', { stdio: 'inherit' })
      console.log('b'); execSync('echo o1', { stdio: 'inherit' })
      spawnSync('sh', ['-c', 'echo e2 >&2'], { stdio: 'inherit' }); process.stdout.write('c\\n')
    }
    await new Promise((done) => spawn('sh', ['-c', 'echo e3 >&2'], { stdio: 'inherit' }).on('exit', done))
    console.log('d')`
  const round = ['INFO a', 'ERROR e1', 'INFO b', 'INFO o1', 'ERROR e2', 'INFO c']
  expect(await logged(source)).toEqual([...Array(10).fill(round).flat(), 'ERROR e3', 'INFO d'])
})

test('scripts may open their output by name', async () => {
  const source =
    'require("child_process").execSync("echo out > /dev/stdout; echo err > /dev/stderr", { stdio: "inherit" })'
  expect((await logged(source)).toSorted()).toEqual(['ERROR err', 'INFO out'])
})

test('what a stopped process printed is not lost', async () => {
  const log = await logged('for (let i = 0; i < 1000; i++) console.log(`line ${i}`)\nprocess.abort()')
  expect(log).toHaveLength(1001)
  expect(log[999]).toBe('INFO line 999')
})

test('invalid UTF-8 and NUL are kept safe', async () => {
  const log = await logged('require("fs").writeSync(1, Buffer.from([97, 0xff, 0, 98, 10])); console.log("a\\0b")')
  expect(log).toEqual(['INFO a\uFFFD\0b', 'INFO a\0b'])
})

test('lines are visible while the run goes on', async () => {
  const { id, ended } = under.replica.hand('console.log("early"); for (;;);', { run: { timeoutMs: 25_000 } })
  await until(() => under.replica.logOf(id).length > 0, { what: 'the first line' })
  expect(lines(under.replica.logOf(id))).toEqual(['INFO early'])
  under.replica.kill(id)
  void ended
})

test('times are in microseconds, and never go back', async () => {
  const { log } = await under.replica.run(
    'for (let i = 0; i < 500; i++) { console.log(i); if (i % 50 === 0) require("fs").writeSync(2, "raw\\n") }',
  )
  const times = log.map(({ timeUs }) => timeUs)
  expect(times.every((time, at) => at === 0 || time >= times[at - 1]!)).toBe(true)
  expect(Math.abs(Number(times[0]! / 1000n) - Date.now())).toBeLessThan(600_000)
})

test('beyond the number of lines one line says that the rest was dropped, and the error is told', async () => {
  const log = await logged('for (let i = 0; i < 5000; i++) console.log(i)\nthrow new Error("end")')
  expect(log).toHaveLength(2002)
  expect(log[1999]).toBe('INFO 1999')
  expect(log[2000]).toMatch(
    /^WARNING The log has reached its limit \(2000 lines, 1000000 bytes\): the rest was dropped$/,
  )
  expect(log[2001]).toContain('ERROR Error: end')
})

test('a torrent that never ends is told to be cut, with all lines before', async () => {
  const log = await logged('for (let i = 0; ; i++) console.log(i)', { run: { timeoutMs: 2000 } })
  expect(log).toHaveLength(2002)
  expect(log.slice(0, 2000)).toEqual(Array.from({ length: 2000 }, (_, at) => `INFO ${at}`))
  expect(log[2000]).toContain('the rest was dropped')
  expect(log[2001]).toMatch(/^ERROR TimeoutError/)
})

test.for([
  ['x', 10_000],
  ['é', 5000],
  ['漢', 3333],
  ['😀', 2500],
])('beyond the bytes too, of %s', async ([text, count]) => {
  const log = await logged(`for (let i = 0; i < 200; i++) console.log("${text}".repeat(${count}))`)
  expect(log).toHaveLength(101)
  expect(log[100]).toContain('the rest was dropped')
})

test('a line of more than 64 KiB counts with the bytes that are shown of it', async () => {
  const log = await logged('for (let i = 0; i < 20; i++) console.log("漢".repeat(80_000))')
  expect(log).toHaveLength(6)
  expect(log[5]).toContain('the rest was dropped')
})

test.for([
  ['console.log', 'console.log("x".repeat(1e8)); console.log("after")'],
  [
    'a raw write',
    'const b = Buffer.alloc(1e8, 120); let n = 0; while (n < b.length) n += require("fs").writeSync(1, b, n); console.log("\\nafter")',
  ],
])('a line of 100 MB from %s takes bounded memory and is cut visibly', async ([, source]) => {
  const before = memoryAtRest()
  const [line, ...after] = (await under.replica.run(source!)).log
  expect(line!.message).toMatch(/^x{65536}… \(the rest of this line was cut\)$/)
  expect(after.at(-1)!.message).toMatch(/after$/)
  expect(memoryHeld() - before).toBeLessThan(150e6)
})

test('a flood of output is dropped, and the next run of the version is well', async () => {
  const flood =
    'const b = Buffer.alloc(1 << 20, "flood flood\\n"); for (let i = 0; i < 60; i++) require("fs").writeSync(1, b)\nreturn 1'
  const ended = await under.replica.run(flood)
  expect(ended.value).toBe(1)
  expect(ended.log.at(-1)!.message).toContain('the rest was dropped')
  expect((await under.replica.run(flood)).value).toBe(1)
})

test('a log goes in numbered chunks that neither overlap nor leave a line out', async () => {
  const { log } = await under.replica.run('for (let i = 0; i < 1500; i++) console.log("x".repeat(100) + i)\nreturn 1')
  expect(log).toHaveLength(1500)
  expect(log.map(({ message }) => message.slice(100))).toEqual(Array.from({ length: 1500 }, (_, at) => String(at)))
  expect(log.every(({ level }) => level === LogLevel.INFO)).toBe(true)
})

test('what is masked counts towards the limit as it was printed', async () => {
  const variables = [{ key: 'SECRET', value: 'x'.repeat(60_000), isSensitive: true }]
  const source = 'for (let each = 0; each < 20; each += 1) console.log(svc.env.SECRET)'
  const log = await logged(source, { spec: { variables } })
  expect(log).toEqual([...Array(16).fill('INFO ******'), expect.stringMatching(/^WARNING The log has reached/)])
})

test('what a run left prints nothing into the log of the next one', async () => {
  // Room for one child.
  const single = await startRunnerWith({ children: { spares: 0 } }, { RUNNER_CHILDREN_MEMORY_MB: '64' })
  const { port: answering, close } = await listening(createServer((_, response) => response.end('answer')))
  const source = `
    const { name, port } = svc.context.parameters
    console.log(name)
    if (port) await new Promise((done) => require('http').get({ port }, (answer) => {
      answer.resume().on('end', done)
      answer.socket.on('close', () => {
        console.log('late')
        process.stdout.write('late\\n')
        console.error(new Error('late'))
        require('fs').writeSync(1, 'late\\n')
      })
    }))
    return process.pid`
  const run = (name: string, port?: number) => single.replica.run(source, { parameters: { name, port } })
  const first = await run('first', answering)
  const next = run('next')
  // It waits for the child; that has ended its look before this process reads again.
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
  const { log, value } = await next
  expect(lines(log)).toEqual(['INFO next'])
  expect(value).toBe(first.value)
  await single.stop()
  await close()
})
