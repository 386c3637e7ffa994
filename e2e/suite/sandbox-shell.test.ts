import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import type { Sandbox } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { expectProblem } from './problem.ts'
import { client, hasOther, other } from './shared-system.ts'

let one: string

beforeAll(async () => {
  const made = await client.post<Sandbox>('/sandboxes', { imageId: 'base', timeout: 600_000 })
  expect(made.status, made.text).toBe(201)
  one = `/sandboxes/${made.body.id}`
  const runs = async () => (await client.get<Sandbox>(one)).body.status === 'RUNNING'
  await waitUntil(`${one} runs`, runs, { timeoutMs: 60_000, everyMs: 50 })
})
afterAll(() => client.post(`${one}/kill`))

interface Line {
  type: string
  data?: string
  code?: number
}

/** Runs a command to its end; answers with its lines. */
async function run(command: string, args: string[] = [], more: object = {}): Promise<Line[]> {
  const answer = await client.post(`${one}/commands`, { command, args, ...more })
  expect(answer.status, answer.text).toBe(200)
  return answer.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

const outputOf = (lines: Line[]) =>
  lines
    .filter(({ type }) => type === 'stdout')
    .map(({ data }) => data)
    .join('')

test('a command runs in the sandbox, with what it is given, and tells how it ended', async () => {
  const lines = await run('sh', ['-c', 'cat; echo "$WORD in $PWD"; exit 7'], {
    stdin: 'ü ',
    env: { WORD: 'w' },
    cwd: '/tmp',
  })
  expect(outputOf(lines)).toBe('ü w in /tmp\n')
  expect(lines.at(-1)).toEqual({ type: 'exit', code: 7 })
  const other = await run('sh', ['-c', 'echo "$WORD"'])
  expect(outputOf(other)).toBe('\n')
})

test('a program that is not there, and a sandbox that is none, are told as such', async () => {
  expectProblem(await client.post(`${one}/commands`, { command: 'no-such' }), 400, {
    code: 'program_not_found',
    path: '/command',
  })
  const nobody = '/sandboxes/00000000-0000-7000-8000-000000000000/commands'
  expectProblem(await client.post(nobody, { command: 'true' }), 404, { code: 'sandbox_not_found' })
})

test('files go in, are seen by commands, and come out; a directory is a list', async () => {
  const file = `${one}/files/tmp/box/in.txt`
  expect((await client.call('PUT', file, { body: 'from outside' })).status).toBe(201)
  expect(outputOf(await run('cat', ['/tmp/box/in.txt']))).toBe('from outside')
  await run('sh', ['-c', 'printf "from inside" > /tmp/box/out.txt'])
  const read = await client.get(`${one}/files/tmp/box/out.txt`)
  expect([read.headers.get('content-length'), read.text]).toEqual(['11', 'from inside'])
  const list = await client.get<{ name: string }[]>(`${one}/files/tmp/box`)
  expect(list.body.map(({ name }) => name)).toEqual(['in.txt', 'out.txt'])
  expect((await client.call('PUT', file, { body: 'again' })).status).toBe(204)
  expect((await client.delete(file)).status).toBe(204)
  expectProblem(await client.get(file), 404, { code: 'path_not_found' })
  expectProblem(await client.delete(`${one}/files/tmp/box`), 400, { code: 'directory_not_empty' })
  expect((await client.call('DELETE', `${one}/files/tmp/box`, { query: { recursive: true } })).status).toBe(204)
  expectProblem(await client.get(`${one}/files/tmp/..%2Fetc`), 400, { path: '/path' })
  expectProblem(await client.call('PUT', `${one}/files/none/a.txt`, { body: 'x' }), 403, { code: 'path_denied' })
})

/** Why a terminal is refused to whoever has this access token, below this team; undefined where there is one. */
function refusalOfTerminal({ rest, address: { host, accessToken } } = client): Promise<string | undefined> {
  const headers = {
    authorization: `Bearer ${accessToken}`,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
  }
  return new Promise((resolve, reject) => {
    const asking = request(`${rest}${one}/terminal`.replace(/^https?:\/\/[^/]*/, host), { headers })
    asking.on('error', reject)
    asking.on('upgrade', ({ headers: answered }, socket) => {
      expect(answered['x-request-id']).toMatch(/\S/)
      socket.destroy()
      resolve(undefined)
    })
    asking.on('response', (answer) => {
      answer.toArray().then((parts) => resolve((JSON.parse(parts.join('')) as { code: string }).code), reject)
    })
    asking.end()
  })
}

test('a terminal is a real one, where the machine has such', async () => {
  const refusal = await refusalOfTerminal()
  // On one machine they need more than some accounts may have: the guide says what.
  if (refusal !== undefined) return expect(refusal).toBe('terminal_unavailable')
  expectProblem(await client.get(`${one}/terminal`), 400, { code: 'malformed_request' })
  const address = `${client.rest}${one}/terminal?cols=120&rows=40`.replace(/^http/, 'ws')
  const socket = new WebSocket(address, ['bearer', client.address.accessToken])
  socket.binaryType = 'arraybuffer'
  let shown = ''
  let last: unknown
  socket.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
    if (typeof data === 'string') last = JSON.parse(data)
    else shown += Buffer.from(data).toString()
  })
  const type = (text: string) => socket.send(Buffer.from(text))
  const sees = (what: string) =>
    waitUntil(`the terminal shows ${what}`, async () => shown.includes(what), { timeoutMs: 30_000, everyMs: 20 })
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  type('test -t 0 && stty size && echo on""e\n')
  await sees('40 120')
  await sees('one')
  socket.send(JSON.stringify({ resize: { cols: 90, rows: 20 } }))
  const resized = async () => {
    type('stty size\n')
    return shown.includes('20 90')
  }
  await waitUntil('the terminal has its new size', resized, { timeoutMs: 30_000, everyMs: 100 })
  const closed = new Promise((resolve) => socket.addEventListener('close', ({ code }) => resolve(code)))
  type('exit 6\n')
  expect([await closed, last]).toEqual([1000, { exit: { code: 6 } }])
})

test.runIf(hasOther)(
  'a terminal is opened to no other team, which is told as if there were no such sandbox',
  async () => {
    expect(await refusalOfTerminal(other)).toBe('sandbox_not_found')
    const { host, team } = client.address
    const stranger = new Client({ ...other.address, host, team })
    expect(await refusalOfTerminal(stranger)).toBe('forbidden')
  },
)
