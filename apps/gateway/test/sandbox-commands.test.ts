import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SandboxStatus } from '@automation/contract/sandbox/v1/sandbox'
import { notFound } from '@automation/errors'
import { until } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sandbox } from './contract-records.ts'
import { problemOf } from './gateway-for-tests.ts'
import { startSandboxRest, type SandboxRest } from './sandbox-rest.ts'

let system: SandboxRest

beforeAll(async () => {
  system = await startSandboxRest({ teamMaxStreams: 3 })
})
afterAll(() => system.stop())

const start = (body: object) => system.rest('POST', `${system.one}/commands`, body)
const sh = (script: string, more: object = {}) => start({ command: 'sh', args: ['-c', script], ...more })

type Line = { type: string; data?: string; code?: number | string; signal?: string; timedOut?: boolean }

async function linesOf(response: Response): Promise<Line[]> {
  const text = await response.text()
  expect(text.endsWith('\n')).toBe(true)
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

const textOf = (lines: Line[], type: string) =>
  lines
    .filter((line) => line.type === type)
    .map(({ data }) => data)
    .join('')

test('a command gets its arguments, input, environment and directory, and its output and end are lines', async () => {
  const response = await sh('cat; echo $GREETING >&2; pwd; exit 3', {
    stdin: 'in\0put ',
    env: { GREETING: 'hello' },
    cwd: '/tmp',
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
  const lines = await linesOf(response)
  expect(textOf(lines, 'stdout')).toBe('in\0put /tmp\n')
  expect(textOf(lines, 'stderr')).toBe('hello\n')
  expect(lines.at(-1)).toEqual({ type: 'exit', code: 3 })
})

test('output comes while the command runs', async () => {
  const response = await sh('echo first; while [ ! -e go ]; do sleep 0.05; done; echo second')
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let seen = ''
  while (!seen.includes('first')) seen += (await reader.read()).value
  expect(seen).not.toContain('second')
  await system.daemon.sandbox.files.write('go', '')
  for (let next = await reader.read(); !next.done; next = await reader.read()) seen += next.value
  expect(seen).toContain('{"type":"stdout","data":"second\\n"}\n{"type":"exit","code":0}\n')
  await system.daemon.sandbox.files.remove('go')
})

test('a character that comes in two pieces is one, and what is no UTF-8 becomes U+FFFD', async () => {
  const script = `printf '\\303'; while [ ! -e half ]; do sleep 0.05; done; printf '\\274 \\377 \\357\\273\\277 \\342\\202'`
  const response = await sh(script)
  await system.daemon.sandbox.files.write('half', '')
  const lines = await linesOf(response)
  expect(textOf(lines, 'stdout')).toBe('ü \uFFFD \uFEFF \uFFFD')
  await system.daemon.sandbox.files.remove('half')
})

test('a command that is over its time, or is ended by a signal, says so', async () => {
  const late = await linesOf(await sh('sleep 100', { timeoutMs: 50 }))
  expect(late.at(-1)).toEqual({ type: 'exit', code: -1, signal: 'SIGKILL', timedOut: true })
  expect(await linesOf(await sh('kill -TERM $$'))).toEqual([{ type: 'exit', code: -1, signal: 'SIGTERM' }])
})

test('a client that goes takes its command along, and gives its room back', async () => {
  const abort = new AbortController()
  const headers = { authorization: `Bearer ${await system.servers.token()}`, 'content-type': 'application/json' }
  const script = 'trap "" PIPE; echo here; sleep 100; touch survived'
  const response = await fetch(`${system.base}/api/demo/rest${system.one}/commands`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ command: 'sh', args: ['-c', script] }),
    signal: abort.signal,
  })
  await response.body!.getReader().read()
  expect(await system.daemon.sandbox.list()).toHaveLength(1)
  abort.abort()
  await until(async () => (await system.daemon.sandbox.list()).length === 0)
  expect(existsSync(join(system.daemon.home, 'survived'))).toBe(false)
})

test('a slow reader holds the command up: what it writes is kept nowhere', async () => {
  const response = await sh('for i in $(seq 2000); do head -c 50000 /dev/zero; echo $i > next; mv next at; done')
  const reader = response.body!.getReader()
  await reader.read()
  // Meanwhile others go on.
  for (let round = 0; round < 20; round += 1) await linesOf(await sh('true'))
  expect(Number(await (await sh('cat at')).text().then((text) => JSON.parse(text.split('\n')[0]!).data))).toBeLessThan(
    500,
  )
  await reader.cancel()
})

test('a team has as many commands at a time as it may have streams', async () => {
  const running = await Promise.all([1, 2, 3].map(() => sh('sleep 100')))
  const response = await sh('true')
  expect([response.status, (await problemOf(response)).code]).toEqual([429, 'too_many_streams'])
  await Promise.all(running.map((one) => one.body!.cancel()))
  await until(async () => (await sh('true')).status === 200)
})

test('the end of the access token ends the command', async () => {
  const headers = {
    authorization: `Bearer ${await system.servers.token({}, '2s')}`,
    'content-type': 'application/json',
  }
  const body = JSON.stringify({ command: 'sleep', args: ['100'] })
  const response = await system.request('POST', `/api/demo/rest${system.one}/commands`, { headers, body })
  expect((await linesOf(response)).at(-1)).toMatchObject({ type: 'error', code: 'token_expired' })
})

describe('what is refused', () => {
  test.each([
    ['/command', 'invalid_input', {}],
    ['/command', 'invalid_input', { command: '' }],
    ['/command', 'invalid_input', { command: 'a\0' }],
    ['/command', 'program_not_found', { command: 'no-such-program' }],
    ['/command', 'program_denied', { command: '/etc' }],
    ['/args', 'invalid_input', { command: 'echo', args: 'a' }],
    ['/args/0', 'invalid_input', { command: 'echo', args: [5] }],
    ['/args', 'invalid_input', { command: 'echo', args: Array.from({ length: 5000 }, () => '') }],
    ['/args', 'invalid_input', { command: 'echo', args: ['a'.repeat(1_100_000)] }],
    ['/command', 'invalid_input', { command: 'echo', args: ['a'.repeat(1_000_000)] }],
    ['/cwd', 'working_directory_not_found', { command: 'echo', cwd: '/no/such' }],
    ['/env', 'invalid_input', { command: 'echo', env: { 'a=b': '1' } }],
    ['/env/a', 'invalid_input', { command: 'echo', env: { a: 1 } }],
    ['/stdin', 'invalid_input', { command: 'cat', stdin: 'a'.repeat(1_100_000) }],
    ['/timeoutMs', 'invalid_input', { command: 'cat', timeoutMs: 0 }],
    ['/timeoutMs', 'invalid_input', { command: 'cat', timeoutMs: 1e12 }],
  ])('at %s with %s', async (path, code, body) => {
    const response = await start(body)
    const problem = await problemOf(response)
    expect([response.status, problem.code, problem.errors?.map((fault) => fault.path)]).toEqual([400, code, [path]])
  })

  test.each([
    [SandboxStatus.PENDING, 503, 'sandbox_starting'],
    [SandboxStatus.KILLED, 400, 'sandbox_ended'],
  ])('of a sandbox whose status is %i', async (status, http, code) => {
    const usual = system.servers.answers.get('getSandbox')!
    system.servers.answers.set('getSandbox', () => ({ ...sandbox, status }))
    const response = await start({ command: 'true' })
    expect([response.status, (await problemOf(response)).code]).toEqual([http, code])
    system.servers.answers.set('getSandbox', usual)
  })

  test('of another team, or nobody', async () => {
    const usual = system.servers.answers.get('getSandbox')!
    system.servers.answers.set('getSandbox', () => {
      throw notFound('sandbox')
    })
    const response = await start({ command: 'true' })
    expect([response.status, (await problemOf(response)).code]).toEqual([404, 'sandbox_not_found'])
    system.servers.answers.set('getSandbox', usual)
  })
})

test('a sandbox that ends while a command runs is told in the last line, and one that is gone in a problem', async () => {
  const own = await startSandboxRest()
  const running = await own.rest('POST', `${own.one}/commands`, { command: 'sleep', args: ['100'] })
  own.daemon.process.kill('SIGKILL')
  expect((await linesOf(running)).at(-1)).toMatchObject({ type: 'error', code: 'sandbox_unreachable' })
  const gone = await own.rest('POST', `${own.one}/commands`, { command: 'true' })
  expect([gone.status, (await problemOf(gone)).code]).toEqual([502, 'sandbox_unreachable'])
  await own.stop()
})

describe('a detached command', () => {
  const of = (id: string) => `${system.one}/commands/${id}`
  const detach = async (script: string, more: object = {}) => {
    const response = await sh(script, { detached: true, ...more })
    expect(response.status).toBe(202)
    return ((await response.json()) as { commandId: string }).commandId
  }
  const list = async () =>
    (await (await system.rest('GET', `${system.one}/commands`)).json()) as { commandId: string; exit?: object }[]

  test('is answered with its id, goes on, is listed, is attached to from its beginning, and is ended', async () => {
    const id = await detach('cat; while [ ! -e go ]; do sleep 0.05; done; echo more; exit 4', { stdin: 'given ' })
    expect(await list()).toEqual([
      { commandId: id, command: expect.arrayContaining(['sh', '-c']), startedAt: expect.stringMatching(/Z$/) },
    ])
    const attached = await system.rest('GET', of(id))
    expect([attached.status, attached.headers.get('content-type')]).toEqual([
      200,
      'application/x-ndjson; charset=utf-8',
    ])
    await system.daemon.sandbox.files.write('go', '')
    for (const lines of [await linesOf(attached), await linesOf(await system.rest('GET', of(id)))]) {
      expect(textOf(lines, 'stdout')).toBe('given more\n')
      expect(lines.at(-1)).toEqual({ type: 'exit', code: 4 })
    }
    expect((await list()).map(({ exit }) => exit)).toEqual([{ code: 4 }])
    await system.daemon.sandbox.files.remove('go')
    const endless = await detach('sleep 1000')
    for (const one of [id, endless]) expect((await system.rest('DELETE', of(one))).status).toBe(204)
    expect(await list()).toEqual([])
    await until(async () => (await system.daemon.sandbox.list()).length === 0)
    for (const method of ['GET', 'DELETE']) {
      const gone = await system.rest(method, of(id))
      expect([gone.status, (await problemOf(gone)).code]).toEqual([404, 'command_not_found'])
    }
  })

  test('that can not be started says why, and what is not kept of its output is a line', async () => {
    const none = await start({ command: 'no-such-program', detached: true })
    expect([none.status, (await problemOf(none)).code]).toEqual([400, 'program_not_found'])
    const id = await detach('head -c 2000000 /dev/zero')
    const lost = async () => (await linesOf(await system.rest('GET', of(id)))).find(({ type }) => type === 'lost')
    await until(async () => (await lost()) !== undefined, { what: 'output to be lost' })
    await system.rest('DELETE', of(id))
  })
})
