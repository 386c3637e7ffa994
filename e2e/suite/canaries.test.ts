import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import { removeTraces, startSystem, type System } from '../system/system.ts'
import { clientOf } from './client-of.ts'
import { awaitEnd, awaitStatus, execute, logsOf, makeProcess } from './runs.ts'
import { shared } from './shared-system.ts'

const secret = 'canary "Zq7/ö+w?\\x" end'
const key = 'canary-Line-1-abcdef\ncanary-Line-2-ghijkl'
const password = 'canary-Webhook-5kQ'
const print = 'console.log(S, { S }, encodeURIComponent(S), btoa(unescape(encodeURIComponent("id:" + S))));'
const wait = 'await new Promise((go) => setTimeout(go, 20000))'
const stopsBadly: [end: string, source: string, input?: object][] = [
  ['printing', `${print} process.stderr.write(S + "\\n"); console.log(svc.env.CANARY_KEY); return 1`],
  ['an error', `${print} throw new Error("bad " + S, { cause: new Error(svc.env.CANARY_KEY) })`],
  ['a thrown object', 'throw { S, json: JSON.stringify({ S }) }'],
  ['an error of its own name', 'throw Object.assign(new Error(encodeURIComponent(S)), { name: S })'],
  ['a rejection that nobody handles', 'Promise.reject(new Error(S)); await new Promise((go) => setTimeout(go, 50))'],
  ['a value without a JSON form', 'return { get a() { throw new Error(S) } }'],
  ['a time-out', `${print} ${wait}`, { settings: { timeout: 2000 } }],
  ['an abort', `${print} process.abort()`],
  ['too much memory', `${print} const all = []; for (;;) all.push(new Array(1e6).fill(S + all.length))`],
  ['an exit', `${print} process.exit(3)`],
  ['a global of its name', `${print} Object.defineProperty(globalThis, S, { value: 1 }); return 1`],
  ['a built-in with a property of its name', `${print} Array.prototype[S] = 1; return 1`],
  ['a failed call', 'await svc.processes.runSync(S.slice(0, 30), { comment: "no canary" })'],
]

const printPython =
  'import base64, json, os, sys, time, urllib.parse\nprint(S, json.dumps({"S": S}), urllib.parse.quote(S, safe=""), base64.b64encode(("id:" + S).encode()).decode())\n'
const pythonStopsBadly: typeof stopsBadly = [
  [
    'printing',
    `${printPython}sys.stderr.write(S[:7])\nsys.stderr.flush()\ntime.sleep(0.05)\nsys.stderr.write(S[7:] + "\\n")\nprint(svc.env.CANARY_KEY)\nreturn 1`,
  ],
  ['an error', `${printPython}raise ValueError("bad " + S) from KeyError(svc.env.CANARY_KEY)`],
  ['an error of its own name', `${printPython}raise type(S, (Exception,), {})(urllib.parse.quote(S, safe=""))`],
  ['a value without a JSON form', `${printPython}return {S: object()}`],
  ['a time-out', `${printPython}time.sleep(20)`, { settings: { timeout: 2000 } }],
  ['an abort', `${printPython}os.abort()`],
  ['too much memory', `${printPython}kept = []\nwhile True: kept.append(S * 100000)`],
  ['an exit', `${printPython}sys.exit(S)`],
]

/** Texts by which a canary is known in whatever form. */
const traces = [secret, key.split('\n')[0]!, key.split('\n')[1]!, password].flatMap((text) => [
  text,
  Buffer.from(text).toString('base64').replace(/=+$/, ''),
  Buffer.from(`id:${text}`).toString('base64').slice(4, -4),
  Buffer.from(text).toString('hex'),
  encodeURIComponent(text),
  JSON.stringify(text).slice(1, -1),
])

function expectNoCanary(where: string, content: Buffer | string): void {
  const bytes = Buffer.from(content)
  for (const trace of traces) expect(bytes.includes(trace), `${JSON.stringify(trace)} in ${where}`).toBe(false)
}

describe.skipIf(!shared.owned)('secrets are found nowhere', { concurrent: false }, () => {
  let system: System
  let by: Client
  beforeAll(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'e2e-canaries-'))
    const TMPDIR = join(dataDir, 'runs')
    await mkdir(TMPDIR)
    system = await startSystem({ dataDir, env: { LOG_LEVEL: 'debug', RUN_MEMORY_MB: '64', TMPDIR } })
    by = await clientOf(system)
    const variables = [
      ['CANARY', secret],
      ['CANARY_KEY', key],
    ]
    for (const [name, value] of variables)
      expect((await by.post('/variables', { key: name, value, isSensitive: true })).status).toBe(201)
  })
  afterAll(async () => {
    await system.kill()
    await removeTraces(system.dataDir)
  })

  const all = [
    ...stopsBadly.map(([end, ...row]) => ['JAVASCRIPT', end, 'const S = svc.env.CANARY; ', ...row] as const),
    ...pythonStopsBadly.map(([end, ...row]) => ['PYTHON', end, 'S = svc.env.CANARY\n', ...row] as const),
  ]
  test.for(all)('in answer, log and timeline of a %s run that ends by %s', async (row) => {
    const [programmingLanguage, end, beginning, source, input = {}] = row
    const process = await makeProcess({ programmingLanguage, sourceCode: beginning + source }, by)
    const answer = await by.post(`/processes/${process.id}/execute-sync`, input)
    expectNoCanary('the answer', answer.text)
    const id = answer.headers.get('svc-execution-id')!
    expectNoCanary('the execution', JSON.stringify(await awaitEnd(id, 30_000, by)))
    const logs = JSON.stringify(await logsOf(id, by))
    expectNoCanary('the log', logs)
    if (end !== 'a failed call' && end !== 'too much memory') expect(logs).toContain('******')
  })

  test('in command lines and environments while a run is on, nor when it is killed', async () => {
    const sourceCode = `const S = svc.env.CANARY; ${print} ${wait}`
    const process = await makeProcess({ sourceCode, webhook: { enabled: true, username: 'canary', password } }, by)
    await by.post(`/webhooks/${process.slug}`, {}, { headers: { authorization: 'Basic Y2FuYXJ5Ondyb25n' } })
    const id = await execute(process, {}, by)
    await awaitStatus(id, ({ status }) => status === 'RUNNING', 30_000, by)
    for (const { pid, command } of system.processes()) {
      expectNoCanary(command, ofProcess(`/proc/${pid}/cmdline`))
      expectNoCanary(command, ofProcess(`/proc/${pid}/environ`))
    }
    expect((await by.put(`/executions/${id}/kill`)).status).toBe(202)
    expectNoCanary('a killed run', JSON.stringify([await awaitEnd(id, 30_000, by), await logsOf(id, by)]))
  })

  test('in rows, files, cores and what the service prints', async () => {
    await system.kill()
    expectNoCanary('its output', await system.output())
    // What people are told at the first start has the token; the log has not.
    const logLines = (await system.output()).split('\n').filter((line) => line.startsWith('{'))
    expect(logLines.join('\n')).not.toContain(system.apiToken)
    const names = await readdir(system.dataDir, { recursive: true, withFileTypes: true })
    const files = names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
    expect(files.length).toBeGreaterThan(500)
    for (const file of files) {
      expect(file).not.toMatch(/\/core[^/]*$/)
      const content = await readFile(file)
      expectNoCanary(file, content)
      const holdsToken = content.includes(system.apiToken)
      if (holdsToken) expect(file.endsWith('/bootstrap-token')).toBe(true)
    }
  })
})

function ofProcess(path: string): Buffer {
  try {
    return existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  } catch {
    return Buffer.alloc(0) // it ended while it was looked at
  }
}
