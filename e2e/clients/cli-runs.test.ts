import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { home, linesOf, pas, pasJson, start } from './cli.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { clientAt, system, unique } from './installed.ts'

const client = clientAt()
const greeting = unique('greeting')
const endless = unique('endless')

beforeAll(async () => {
  await client.processes.create({
    name: greeting,
    sourceCode: `const { name, count } = svc.context.parameters
console.log('greeting', name)
console.error('careful')
return { text: 'Hello, ' + name, count }`,
    webhook: { enabled: true },
  })
  await client.processes.create({
    name: endless,
    sourceCode: `console.log('begun'); await new Promise((done) => setTimeout(done, 200_000))`,
  })
})

describe('pas run', () => {
  test('prints the value on stdout and the log on stderr, and ends with 0', async () => {
    const { code, stdout, stderr } = await pas(['run', greeting, '-p', 'name=Ada', '-p', 'count:=3'])
    expect({ code, value: JSON.parse(stdout) as unknown }).toEqual({ code: 0, value: { text: 'Hello, Ada', count: 3 } })
    expect(stderr).toBe('greeting Ada\nERROR careful\n')
  })

  test('with --json prints statuses, log and end as lines', async () => {
    const { code, stdout } = await pas(['run', greeting, '-f', '-', '--json'], { input: '{"name": "Grace"}' })
    const lines = linesOf(stdout)
    expect(code).toBe(0)
    expect(lines.map(({ type }) => type)).toEqual(expect.arrayContaining(['status', 'log', 'end']))
    expect(lines.find(({ type }) => type === 'log')).toMatchObject({ level: 'INFO', message: 'greeting Grace' })
    expect(lines.at(-1)).toMatchObject({ type: 'end', status: 'FINISHED', returnValue: { text: 'Hello, Grace' } })
  })

  test('a file runs as a draft, in both languages and in TypeScript, and no process is made of it', async () => {
    const name = unique('try')
    const sources = {
      js: 'return svc.context.parameters.n * 2',
      py: 'return svc.context.parameters.n * 2',
      ts: 'const two: number = 2\nexport default function main(): number { return svc.context.parameters.n * two }',
    }
    for (const [extension, source] of Object.entries(sources)) {
      await writeFile(join(home, `${name}.${extension}`), source)
      const { code, stdout, stderr } = await pas(['run', `./${name}.${extension}`, '-p', 'n:=21'])
      expect([extension, code, stdout, stderr]).toEqual([extension, 0, '42\n', ''])
    }
    expect((await client.processes.list({ keywords: name }).page()).total).toBe(0)
  })

  test('of a run that fails ends with 5, and says why and where', async () => {
    await writeFile(join(home, 'fails.js'), '\nthrow new TypeError("no such thing")')
    const { code, stdout, stderr } = await pas(['run', 'fails.js'])
    expect([code, stdout]).toEqual([5, ''])
    expect(stderr).toMatch(/error: The run \S+ is ERROR: TypeError: no such thing \(draft\.js:2\)/)
  })

  test('of a run whose error has control characters shows its lines, and none of those', async () => {
    const escapes = String.raw`\u001b]0;title\u0007\u001b[2Jone\r\n\ttwo`
    await writeFile(join(home, 'escapes.js'), `throw new Error("${escapes}")`)
    const { code, stderr } = await pas(['run', 'escapes.js'])
    expect([code, stderr]).toEqual([5, expect.stringMatching(/one \n\ttwo/)])
    // oxlint-disable-next-line no-control-regex -- it is them that are looked for
    expect(stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/)
  })

  test('of main.js in the folder of a process runs as a draft of that process', async () => {
    const name = unique('in-folder')
    await client.processes.create({ name, sourceCode: 'return "stored"' })
    const cwd = join(home, 'processes', name)
    await mkdir(cwd, { recursive: true })
    await writeFile(join(cwd, 'main.js'), 'return "draft"')
    expect((await pas(['run', './main.js'], { cwd })).stdout).toBe('draft\n')
    expect(await pasJson(['executions', 'list', '--process', name])).toMatchObject([{ processSlug: name, trial: true }])
  })

  test('goes on where its stream is cut, with each line once', async () => {
    await using proxy = await CuttingProxy.before(system.host)
    const name = unique('lines')
    const sourceCode = `for (let n = 0; n < 40; n += 1) {
  console.log('line ' + n)
  await new Promise((done) => setTimeout(done, 20))
}`
    await client.processes.create({ name, sourceCode })
    proxy.next(/^GET .*\/events$/, { cutAnswerAfter: 700 })
    proxy.next(/^GET .*\/events$/, { cutAnswerAfter: 300 })
    const { code, stderr } = await pas(['run', name], { env: { PAS_URL: proxy.url } })
    expect([code, stderr.trim().split('\n')]).toEqual([0, Array.from({ length: 40 }, (_, n) => `line ${n}`)])
    expect(proxy.count(/^POST .*\/execute$/)).toBe(1)
    expect(proxy.count(/^GET .*\/events$/)).toBe(3)
  })

  test('Ctrl-C kills the run, waits for its end and ends with 130', async () => {
    const run = start(['run', endless, '--json'])
    await run.has('begun')
    run.child.kill('SIGINT')
    const { code, stdout } = await run.ended
    const end = linesOf(stdout).at(-1)
    expect([code, end]).toEqual([130, expect.objectContaining({ type: 'end', status: 'KILLED' })])
    expect((await client.executions.get(end?.['executionId'] as string)).status).toBe('KILLED')
  })

  test('--wait gives up with 6 while the run goes on, and executions waits for it and kills it', async () => {
    const given = await pas(['run', endless, '--wait', '500ms', '--json'])
    const error = JSON.parse(given.stderr) as { error: { code: string; message: string } }
    expect([given.code, error.error.code]).toEqual([6, 'wait_ran_out'])
    const id = /pas executions wait (\S+)/.exec(error.error.message)?.[1] ?? ''
    expect((await client.executions.get(id)).status).toBe('RUNNING')
    expect((await pas(['executions', 'wait', id, '--timeout', '200ms'])).code).toBe(6)
    expect(await pasJson(['executions', 'kill', id])).toEqual([{ id, killed: true }])
    expect((await pas(['executions', 'wait', id])).code).toBe(5)
    expect(await pasJson(['executions', 'kill', id])).toEqual([{ id, killed: false }])
  })
})

describe('runs that are over', () => {
  test('are listed, shown, started again with other parameters, and their logs filtered', async () => {
    const { executionId } = await pasJson<{ executionId: string }>(['run', greeting, '-p', 'name=Lin', '--detach'])
    expect((await pas(['executions', 'wait', executionId])).code).toBe(0)
    const listed = await pasJson<{ id: string }[]>(['executions', 'list', '--process', greeting, '--since', '1h'])
    expect(listed.map(({ id }) => id)).toContain(executionId)
    expect((await pas(['executions', 'show', executionId])).stdout).toMatch(/FINISHED[^]*Hello, Lin/)
    const again = await pas(['executions', 'rerun', executionId, '-p', 'name=Mary', '--watch'])
    expect([again.code, JSON.parse(again.stdout)]).toEqual([0, { text: 'Hello, Mary' }])
    const errors = await pas(['logs', executionId, '--level', 'warning', '--json'])
    expect(linesOf(errors.stdout)).toEqual([
      { type: 'log', timestamp: expect.any(String) as string, level: 'ERROR', message: 'careful' },
    ])
    const found = await pas(['logs', '--process', greeting, '--grep', '^greeting M'])
    expect(found.stdout).toMatch(/greeting Mary\n$/)
    expect(found.stdout).not.toContain('Lin')
  })

  test('logs -f shows the log of a run as it comes, until its end', async () => {
    const { executionId } = await pasJson<{ executionId: string }>(['run', endless, '--detach'])
    const logs = start(['logs', executionId, '-f'])
    await logs.has('begun')
    await client.executions.kill(executionId)
    expect((await logs.ended).code).toBe(0)
  })

  test('executions list --watch and logs -f of a process tell of runs that come', async () => {
    const name = unique('watched')
    await client.processes.create({ name, sourceCode: 'console.log("seen by logs")' })
    const [changes, logs] = [
      start(['executions', 'list', '--watch', '--process', name, '--json']),
      start(['logs', '--process', name, '-f', '--json']),
    ]
    // A stream tells of what comes when it is open.
    let isOpen = false
    const opened = Promise.all([changes.has('FINISHED'), logs.has('seen by logs')]).then(() => (isOpen = true))
    while (!isOpen) await client.processes.call(name)
    await opened
    for (const { child } of [changes, logs]) child.kill('SIGINT')
    const [{ code, stdout }, followed] = await Promise.all([changes.ended, logs.ended])
    expect([code, followed.code]).toEqual([130, 130])
    const lines = linesOf(stdout)
    expect(lines).toEqual(lines.map(() => expect.objectContaining({ type: 'change', processSlug: name }) as unknown))
    expect(linesOf(followed.stdout)[0]).toMatchObject({ type: 'log', processSlug: name, message: 'seen by logs' })
  })
})

describe('webhooks', () => {
  test('are called as their senders call them, signed where that is asked for, and replayed', async () => {
    const signed = unique('signed')
    await client.processes.create({
      name: signed,
      webhook: { enabled: true },
      sourceCode:
        'return { signature: svc.context.request?.headers["x-hub-signature-256"], got: svc.context.parameters }',
    })
    const url = await pas(['webhooks', 'url', greeting])
    expect((await fetch(`${url.stdout.trim()}?name=Ada`)).status).toBe(200)
    const sent = await pas(['webhooks', 'send', greeting, '-d', '{"name": "Ada"}'])
    expect([sent.code, JSON.parse(sent.stdout)]).toEqual([0, { text: 'Hello, Ada' }])
    const byEnvironment = await pas(['webhooks', 'send', signed, '-d', '{"a": 1}', '--sign-with', 'HOOK'], {
      env: { HOOK: 'secret-canary' },
    })
    expect(byEnvironment.stdout).toMatch(/sha256=[0-9a-f]{64}/)
    const { executionId } = await pasJson<{ executionId: string }>([
      'webhooks',
      'send',
      greeting,
      '-d',
      '{"name": "Bo"}',
      '--async',
    ])
    const replayed = await pas(['webhooks', 'replay', executionId, '--watch'])
    expect(JSON.parse(replayed.stdout)).toEqual({ text: 'Hello, Bo' })
    const refused = await pas(['webhooks', 'send', endless, '-d', '{}'])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('HTTP 404')])
  })
})

describe('failures', () => {
  const outcome = async (args: string[], env: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await pas([...args, '--json'], { env })
    const { error } = JSON.parse(stderr) as { error: Record<string, unknown> }
    return { code, stdout, error }
  }

  test.each([
    ['a command line that is not understood', ['run', '--nonsense', 'x'], {}, 2, 'usage'],
    ['what is not there', ['run', 'no-such-process'], {}, 1, 'process_not_found'],
    ['a token that is not accepted', ['whoami'], { PAS_TOKEN: 'sk-nonsense' }, 4, 'api_token_malformed'],
    ['nobody signed in', ['whoami'], { PAS_TOKEN: '' }, 4, 'login_required'],
    ['a service that is not reached', ['whoami'], { PAS_URL: 'http://127.0.0.1:9' }, 7, 'unreachable'],
    [
      'logs -f with a token that is not accepted',
      ['logs', '-f'],
      { PAS_TOKEN: 'sk-nonsense' },
      4,
      'api_token_malformed',
    ],
    ['logs -f without a service', ['logs', '-f'], { PAS_URL: 'http://127.0.0.1:9' }, 7, 'unreachable'],
    ['no team', ['whoami'], { PAS_TEAM: '' }, 2, 'usage'],
  ])('%s has its exit code, and an error as JSON on stderr', async (_, args, env, code, name) => {
    expect(await outcome(args, env)).toEqual({
      code,
      stdout: '',
      error: expect.objectContaining({
        code: name,
        message: expect.any(String) as string,
        errors: expect.any(Array) as [],
      }) as object,
    })
  })

  test('a token is sent over http to this machine alone', async () => {
    const { code, error } = await outcome(['whoami'], { PAS_URL: 'http://automation.example.com' })
    expect([code, error['message']]).toEqual([2, expect.stringContaining('Use https')])
  })
})
