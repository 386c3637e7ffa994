import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { until } from '@automation/testing'
import { afterAll, describe, expect, test, vi } from 'vitest'

vi.setConfig({ testTimeout: 40_000 })

const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

interface Ran {
  child: ChildProcess
  stdout: string[]
  stderr: string[]
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; afterMs: number }>
}

function run(env: Record<string, string>, ...args: string[]): Ran {
  const program = fileURLToPath(new URL('programs/part.ts', import.meta.url))
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH, NODE_COMPILE_CACHE, INTERNAL_KEY: 'k'.repeat(32), HEALTH_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  const stdout: string[] = []
  const stderr: string[] = []
  createInterface(child.stdout).on('line', (line) => stdout.push(line))
  createInterface(child.stderr).on('line', (line) => stderr.push(line))
  const begun = performance.now()
  const ended = new Promise<Awaited<Ran['ended']>>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, afterMs: performance.now() - begun }))
  })
  return { child, stdout, stderr, ended }
}

async function started(env: Record<string, string> = {}): Promise<Ran> {
  const ran = run(env)
  await until(() => ran.stderr.some((line) => line.includes('"ready"')), { what: 'ready' })
  return ran
}

/** What a program shows in a terminal. */
async function atTerminal(env: Record<string, string>): Promise<string> {
  const program = fileURLToPath(new URL('programs/at-terminal.ts', import.meta.url))
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const terminal = ['-c', 'import pty, sys; pty.spawn(sys.argv[1:])', process.execPath, program]
  const child = spawn('python3', terminal, {
    env: { PATH, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  return (await text(child.stdout)).replaceAll('\r\n', '\n')
}

// Each runs a program of its own; together they take the time of the longest.
describe.concurrent('a program', () => {
  test('the first signal stops the part within its grace, and the process ends with 0', async () => {
    const { child, stdout, ended } = await started({ SHUTDOWN_GRACE_MS: '70000' })
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 0 })
    expect(stdout[1]).toMatch(/^stop within (70000|6\d{4})$/)
    expect(stdout.at(-1)).toBe('stopped')
  })

  test('in a terminal it shows dots while it starts, and the text of warnings; with LOG_LEVEL all lines', async () => {
    const [quiet, whole] = await Promise.all([atTerminal({}), atTerminal({ LOG_LEVEL: 'info' })])
    expect(quiet).toMatch(/^Starting \.\.\nwarning: look out\n\{.*"later"\}\n$/)
    expect(whole).toMatch(/^\{.*"one"\}\n\{.*"two"\}\n\{.*"look out"\}\n\{.*"later"\}\n$/)
  })

  test('the echo of a Ctrl-C stops nothing twice; a second signal a second later ends it at once', async () => {
    const { child, stdout, ended } = await started({ STOP_MS: '60000' })
    child.kill('SIGINT')
    await until(() => stdout.length === 2)
    child.kill('SIGINT')
    await new Promise((resolve) => setTimeout(resolve, 1050))
    expect(child.exitCode).toBeNull()
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 1 })
    expect(stdout.at(-1)).not.toBe('stopped')
  })

  test('a part that does not stop is given up after its grace', async () => {
    const { child, stderr, ended } = await started({ STOP_MS: '60000', SHUTDOWN_GRACE_MS: '100' })
    const from = performance.now()
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 1 })
    expect(performance.now() - from).toBeLessThan(30_000)
    expect(stderr.at(-1)).toContain('not stopped in time')
  })

  test('warnings of Node and of libraries are lines of the log', async () => {
    const { child, stderr, ended } = await started({ FAILURE: 'warnings' })
    child.kill('SIGTERM')
    await ended
    const lines = stderr.map((line) => JSON.parse(line) as { level: string })
    expect(lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { msg: 'of a library, try 1' },
      { msg: 'Node warns: of Node', err: { type: 'ExampleWarning', message: 'of Node' } },
    ])
  })

  test('output that can not be written, as on a full disk, ends nothing', async () => {
    const program = fileURLToPath(new URL('programs/part.ts', import.meta.url))
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const full = await open('/dev/full', 'w')
    const child = spawn(process.execPath, [program], {
      env: { PATH, NODE_COMPILE_CACHE, INTERNAL_KEY: 'k'.repeat(32), HEALTH_PORT: '0', FAILURE: 'warnings' },
      stdio: ['ignore', 'pipe', full.fd],
    })
    children.push(child)
    await full.close()
    const stdout = text(child.stdout!)
    await once(child.stdout!, 'readable')
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect((await stdout).split('\n')).toEqual(['started', expect.stringMatching(/^stop within/), 'stopped', ''])
  })

  test('a signal during the start lets it come to its end, then stops it', async () => {
    const { child, stdout, ended } = run({ START_MS: '400' })
    await new Promise((resolve) => setTimeout(resolve, 300))
    child.kill('SIGTERM')
    const { code, signal } = await ended
    // Too early for the process to listen, or in order.
    expect(signal ?? code).toSatisfy((end: unknown) => end === 'SIGTERM' || end === 0)
    if (code === 0) expect(stdout.at(-1)).toBe('stopped')
  })

  test('one that is told to stop before it has loaded ends at once where that is preloaded', async () => {
    const preload = fileURLToPath(new URL('../src/early-stop.ts', import.meta.url))
    const child = spawn(process.execPath, [
      '--import',
      preload,
      '--eval',
      "console.log('loading'); setInterval(() => undefined, 1000)",
    ])
    children.push(child)
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([143, null])
  })

  test('every fault of the configuration is printed at once, by name, and the process ends with 2', async () => {
    const { stderr, stdout, ended } = run({
      ...{ SIZE: '99', INTERNAL_KEY: 'short', RUNNER_KEY: `${'k'.repeat(32)},short`, SERVICE_PORTS: 'scheduler=x' },
    })
    expect(await ended).toMatchObject({ code: 2 })
    const text = stderr.join('\n')
    expect(text).toMatch(/4 faults/)
    for (const name of ['SIZE', 'INTERNAL_KEY', 'RUNNER_KEY', 'SERVICE_PORTS: scheduler']) expect(text).toContain(name)
    expect(stdout).toEqual([])
  })

  test('--print-config prints every setting with its default, secrets masked, and starts nothing', async () => {
    const { stdout, ended } = run({ WORD: 'open sesame' }, '--print-config')
    expect(await ended).toMatchObject({ code: 0 })
    expect(stdout).toContain('SIZE=1')
    expect(stdout).toContain('WORD=******')
    expect(stdout).toContain('INTERNAL_KEY=******')
    expect(stdout).toContain('LOG_LEVEL=info')
    expect(stdout.join()).not.toContain('sesame')
  })

  test('--help says what it takes, and an unknown argument is refused', async () => {
    const { stdout, ended } = run({}, '--help')
    expect(await ended).toMatchObject({ code: 0 })
    expect(stdout[0]).toBe('node_modules/.bin/node apps/example/src/main.ts [--print-config]')
    expect(stdout).toContainEqual(expect.stringMatching(/^ +HEALTH_PORT /))
    const refused = run({}, '--migrate')
    expect(await refused.ended).toMatchObject({ code: 2 })
    expect(refused.stderr.join('\n')).toMatch(/--migrate[^]*\nUsage: node_modules\/\.bin\/node apps/)
    expect(refused.stdout).toEqual([])
  })

  test('a limit of open files that is too low is told with what to do', async () => {
    const program = fileURLToPath(new URL('programs/part.ts', import.meta.url))
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const child = spawn('sh', ['-c', 'ulimit -n 64 && exec "$@"', 'sh', process.execPath, program], {
      env: { PATH, NODE_COMPILE_CACHE, INTERNAL_KEY: 'k'.repeat(32), HEALTH_PORT: '0', FAILURE: 'files' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    children.push(child)
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
    expect([code, said]).toEqual([1, expect.stringMatching(/too few files\. .*ulimit -n/)])
  })

  test.each([
    ['start', 'could not start'],
    ['later', 'nobody handled this rejection'],
  ])('a failure nobody handles (%s) is logged as fatal and ends the process', async (failure, text) => {
    const { stderr, ended } = run({ FAILURE: failure })
    expect(await ended).toMatchObject({ code: 1 })
    const last = JSON.parse(stderr.at(-1)!) as Record<string, unknown>
    expect(last).toMatchObject({ level: 'fatal', msg: text, service: 'example' })
  })
})
