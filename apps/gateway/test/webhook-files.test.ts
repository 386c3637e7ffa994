import { Status } from '@automation/contract/execution/v1/execution'
import { StorageService } from '@automation/contract/storage/v1/storage'
import { Failure, invalid } from '@automation/errors'
import { served, type Handlers } from '@automation/rpc'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests
let kept: string[] = []
const removed: string[] = []

beforeAll(async () => {
  gateway = await startGateway()
  const uploadObject = async (messages: AsyncIterable<{ part: { case?: string; value?: { name?: string } } }>) => {
    for await (const { part } of messages) if (part.case === 'begin') kept.push(part.value?.name ?? '')
    if (kept.length > 2) throw new Failure('resource_exhausted', 'storage_full', 'Full')
    return {}
  }
  const deleteObject = ({ name }: { name: string }) => {
    removed.push(name)
    return {}
  }
  gateway.servers.network.add([
    served(StorageService, { uploadObject, deleteObject } as unknown as Handlers<typeof StorageService>),
  ])
})
afterAll(() => gateway.stop())
beforeEach(() => {
  kept = []
  removed.length = 0
  gateway.servers.answers.clear()
})

const call = (files: string[], query = '') =>
  gateway.request('POST', `/api/demo/webhooks/hello${query}`, {
    headers: { authorization: '', 'content-type': 'multipart/form-data; boundary=x' },
    body: [
      ...files.map((name) => `--x\r\ncontent-disposition: form-data; name="f"; filename="${name}"\r\n\r\n1\r\n`),
      '--x--\r\n',
    ].join(''),
  })

test.each([
  ['runExecution', ''],
  ['startExecution', '?async=true'],
])('files of a call that is refused by %s are removed', async (method, query) => {
  gateway.servers.answers.set(method, () => {
    throw invalid('/n', 'is required', 'invalid_parameters')
  })
  expect((await call(['a', 'b'], query)).status).toBe(400)
  expect(kept).toHaveLength(2)
  expect(removed).toEqual(kept)
})

test('files of a call that could not keep all of them are removed', async () => {
  expect((await call(['a', 'b', 'c'])).status).toBe(429)
  expect(removed).toEqual(kept)
})

test.each([
  ['runExecution', ''],
  ['startExecution', '?async=true'],
])('files of a call that %s knows from before are removed: its run has those of that one', async (method, query) => {
  gateway.servers.answers.set(method, () => ({ executionId: 'known', replayed: true, status: Status.FINISHED }))
  const { headers } = await call(['a', 'b'], query)
  expect(headers.get('idempotency-replayed')).toBe('true')
  expect(kept).toHaveLength(2)
  expect(removed).toEqual(kept)
})

test('files stay where a run may have them', async () => {
  expect((await call(['a'])).ok).toBe(true)
  gateway.servers.answers.set('runExecution', () => {
    throw new Failure('unavailable', 'unavailable', 'Away')
  })
  expect((await call(['a'])).status).toBe(503)
  expect(removed).toEqual([])
})
