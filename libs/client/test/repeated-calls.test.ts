import { expect, test } from 'vitest'
import { Client } from '@automation/client'

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
