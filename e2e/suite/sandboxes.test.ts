import { connectSandbox } from '@automation/client/sandbox'
import { expect, test } from 'vitest'
import type { Page, Sandbox } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { expectProblem } from './problem.ts'
import { client, unique } from './shared-system.ts'

async function make(fields: Record<string, unknown> = {}): Promise<Sandbox> {
  const answer = await client.post<Sandbox>('/sandboxes', { imageId: 'base', timeout: 60_000, ...fields })
  expect(answer.status, answer.text).toBe(201)
  return becomes(answer.body.id, 'RUNNING')
}

async function becomes(id: string, status: Sandbox['status']): Promise<Sandbox> {
  let seen: Sandbox | undefined
  const look = async () => {
    seen = (await client.get<Sandbox>(`/sandboxes/${id}`)).body
    if (seen.status === 'FAILED' && status !== 'FAILED') throw new Error(`It failed: ${seen.reason}`)
    return seen.status === status
  }
  await waitUntil(`${id} is ${status}`, look, { timeoutMs: 30_000, everyMs: 50 })
  return seen as Sandbox
}

const kill = (id: string) => client.post<Sandbox>(`/sandboxes/${id}/kill`)

test('the images that sandboxes are made of are listed', async () => {
  const answer = await client.get('/sandboxes/images')
  expect(answer.body).toContainEqual(expect.objectContaining({ id: 'base', memoryMb: 1024 }))
})

test('a sandbox is created, runs commands, and is killed', async () => {
  const name = unique('sandbox')
  const made = await make({ name, metadata: { a: 'ü' }, publicHttpPorts: [3000] })
  expect(made).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name,
    imageId: 'base',
    metadata: { a: 'ü' },
    publicHttpPorts: [3000],
    createdBy: expect.any(String),
    timeoutAt: expect.stringMatching(/Z$/),
  })
  expect(made.publicUrls['3000']).toContain(made.id)
  const sandbox = connectSandbox(made)
  await sandbox.files.write('hello.txt', 'Hello')
  expect(await sandbox.run(['cat', 'hello.txt'])).toMatchObject({ stdout: 'Hello', exitCode: 0 })
  expect(await sandbox.run(['sh', '-c', 'exit 3'])).toMatchObject({ exitCode: 3 })
  const list = await client.get<Page<Sandbox>>('/sandboxes', { limit: 1000 })
  expect(list.body.data.map(({ id }) => id)).toContain(made.id)
  const killed = await kill(made.id)
  expect([killed.status, killed.body.status]).toEqual([200, 'KILLED'])
  await expect(sandbox.run(['true'])).rejects.toMatchObject({ code: 'sandbox_key' })
  sandbox.close()
  expect((await kill(made.id)).body).toEqual(killed.body)
  expectProblem(await client.post(`/sandboxes/${made.id}`, { timeout: 60_000 }), 400, { code: 'sandbox_ended' })
})

test('a public port is reached with its credential alone', async () => {
  const made = await make({ publicHttpPorts: [3000], publicHttpPortsBasicAuth: 'me:a secret' })
  const sandbox = connectSandbox(made)
  const serve = `require('http').createServer((request, answer) => answer.end('at ' + request.url)).listen(3000)`
  await sandbox.run(['sh', '-c', `node -e "${serve}" >/dev/null 2>&1 &`])
  const get = (user: string) => {
    const url = new URL('there?a=b', made.publicUrls['3000'])
    return fetch(url, { headers: { authorization: `Basic ${btoa(user)}` } })
  }
  let seen = ''
  const look = async () => {
    seen = await (await get('me:a secret')).text()
    return seen.startsWith('at ')
  }
  await waitUntil('the server in the sandbox answers', look, { timeoutMs: 20_000, everyMs: 100 })
  expect(seen).toBe('at /there?a=b')
  expect((await get('me:another')).status).toBe(401)
  expect((await fetch(made.publicUrls['3000'] ?? '')).status).toBe(401)
  sandbox.close()
  await kill(made.id)
  expect((await get('me:a secret')).status).toBe(404)
})

test('a sandbox ends at its deadline, which can be moved', async () => {
  const [short, long] = await Promise.all([make({ timeout: 60_000 }), make({ timeout: 60_000 })])
  const moved = await client.post<Sandbox>(`/sandboxes/${long.id}`, { timeout: 86_400_000 })
  expect(Date.parse(moved.body.timeoutAt)).toBeGreaterThan(Date.now() + 80_000_000)
  const soon = await client.post<Sandbox>(`/sandboxes/${short.id}`, { timeout: 1000 })
  const ended = await becomes(short.id, 'TIMED_OUT')
  expect(ended.timeoutAt).toBe(soon.body.timeoutAt)
  expect((await client.get<Sandbox>(`/sandboxes/${long.id}`)).body.status).toBe('RUNNING')
  await kill(long.id)
})

test('what is wrong with an input is named', async () => {
  const wrong: [Record<string, unknown>, string][] = [
    [{}, '/imageId'],
    [{ imageId: 'no-such-image' }, '/imageId'],
    [{ imageId: 'base', timeout: 999 }, '/timeout'],
    [{ imageId: 'base', publicHttpPorts: [80, 80] }, '/publicHttpPorts/1'],
    [{ imageId: 'base', publicHttpPortsBasicAuth: 'nobody' }, '/publicHttpPortsBasicAuth'],
    [{ imageId: 'base', publicHttpPortsBasicAuth: 'me:$2b$20$short' }, '/publicHttpPortsBasicAuth'],
  ]
  for (const [input, path] of wrong) expectProblem(await client.post('/sandboxes', input), 400, { path })
})
