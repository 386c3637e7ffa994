import { expect, test } from 'vitest'
import { Client, type ApiError } from '@automation/client'

/** A client of a service that answers so to the call of this kind whose first answer was lost, and so to reads. */
function clientOf(method: string, refusal: object, read: object) {
  let isLost = false
  const fetch = (_: unknown, init: RequestInit = {}) => {
    if (init.method !== method) return Promise.resolve(Response.json(read))
    if (isLost) return Promise.resolve(Response.json(refusal, { status: 400 }))
    isLost = true
    return Promise.reject(new TypeError('terminated'))
  }
  return new Client({ url: 'http://pas.test', team: 'demo', token: 'eyJh.eyJl.c2ln', fetch })
}

test.each([
  ['KILLED', true],
  ['FINISHED', false],
])('a kill whose answer was lost says of a run that is %s by then: %s', async (status, isKilled) => {
  const pas = clientOf('PUT', { code: 'execution_ended', detail: 'It has ended' }, { id: 'x', status })
  expect(await pas.executions.kill('x')).toBe(isKilled)
})

test('to discard what is staged, with an answer that was lost, gives what there is without it', async () => {
  const manifest = { programmingLanguage: 'PYTHON', dependencies: { six: '1.17.0' } }
  const pas = clientOf('DELETE', { code: 'nothing_staged', detail: 'Nothing is staged' }, manifest)
  const { data, response } = await pas.dependencies.discard('PYTHON').withResponse()
  expect([data, response.status]).toEqual([manifest, 200])
})

test('a start that was rejected is tried again as another start, unless its caller has named it', async () => {
  const keys: (string | null)[] = []
  const fetch = (_: unknown, init: RequestInit = {}) => {
    keys.push(new Headers(init.headers).get('Idempotency-Key'))
    const rejection = { code: 'execution_rejected', detail: 'The queue of the team is full' }
    // Under the same key it stays rejected.
    return Promise.resolve(keys.at(-1) === keys[0] ? Response.json(rejection, { status: 429 }) : Response.json(42))
  }
  const pas = new Client({ url: 'http://pas.test', team: 'demo', token: 'eyJh.eyJl.c2ln', fetch })
  expect(await pas.processes.executeSync('x', {})).toBe(42)
  expect(new Set(keys).size).toBe(2)
  keys.length = 0
  for (const named of [{ idempotencyKey: 'mine' }, { headers: { 'idempotency-key': 'mine' } }]) {
    const started = pas.processes.executeSync('x', {}, named)
    await expect(started).rejects.toMatchObject({ code: 'execution_rejected' })
  }
  expect(keys).toEqual(['mine', 'mine'])
})

test.each([
  ['ECONNREFUSED', 'process_not_found'],
  ['ECONNRESET', undefined],
])('of a deletion after %s, a process that is not there says: %s', async (cause, code) => {
  let attempts = 0
  const fetch = () => {
    attempts += 1
    if (attempts === 1) return Promise.reject(new TypeError('fetch failed', { cause: { code: cause } }))
    return Promise.resolve(Response.json({ code: 'process_not_found', detail: 'No process' }, { status: 404 }))
  }
  const pas = new Client({ url: 'http://pas.test', team: 'demo', token: 'eyJh.eyJl.c2ln', fetch })
  const refusal = await pas.processes.delete('x').catch((error: unknown) => error as ApiError)
  expect([attempts, refusal?.code]).toEqual([2, code])
})

test('a sandbox whose maker leaves while it is made is ended', async () => {
  const stop = new AbortController()
  const calls: string[] = []
  const fetch = (input: unknown, init: RequestInit = {}) => {
    calls.push(`${init.method} ${(input as URL).pathname.replace('/api/demo/rest', '')}`)
    // It is being made when its maker leaves.
    stop.abort(new Error('enough'))
    if (init.signal?.aborted) return Promise.reject(init.signal.reason as Error)
    return Promise.resolve(Response.json({ id: 'box', status: 'RUNNING' }))
  }
  const pas = new Client({ url: 'http://pas.test', team: 'demo', token: 'eyJh.eyJl.c2ln', fetch })
  const create = () => pas.sandboxes.create({ imageId: 'base' }, { signal: stop.signal })
  await expect(create()).rejects.toThrow('enough')
  await expect.poll(() => calls).toEqual(['POST /sandboxes', 'POST /sandboxes/box/kill'])
  await expect(create()).rejects.toThrow('enough')
  expect(calls).toHaveLength(2)
})
