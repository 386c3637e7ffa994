import { Failure } from '@automation/errors'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ETAG } from './contract-records.ts'
import { PROCESS_ID, SCHEDULE_ID } from './contract-servers.ts'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())
beforeEach(() => gateway.servers.answers.clear())

const path = `/api/demo/rest/processes/${PROCESS_ID}`
const patch = (ifMatch: string) =>
  gateway.request('PATCH', path, {
    headers: { 'if-match': ifMatch, 'content-type': 'application/json' },
    body: '{"name":"n"}',
  })

test.each([
  ['"a"', ['"a"']],
  ['"a", W/"b" ,,"c,d"', ['"a"', 'W/"b"', '"c,d"']],
  ['""', ['""']],
  ['*', []],
  ['', []],
  ['  ', []],
])('If-Match: %j asks for the states %j', async (header, ifMatch) => {
  expect((await patch(header)).status).toBe(200)
  expect(gateway.servers.last('updateProcess')).toMatchObject({ ifMatch })
})

test.each(['a', '"a', 'a"', '"a" "b"', '*, "a"', '"a", *', 'w/"a"', ',', '"a"b', 'W/', '"a b"'])(
  'If-Match: %j is no list of entity tags, and nothing is done',
  async (header) => {
    gateway.servers.received.length = 0
    const answer = await patch(header)
    expect(answer.status).toBe(400)
    expect(await problemOf(answer)).toMatchObject({ code: 'invalid_input', errors: [{ path: '/If-Match' }] })
    expect(gateway.servers.received).toEqual([])
  },
)

test('a long If-Match of blanks is read at once', async () => {
  expect((await patch(`"a"${' '.repeat(8000)}b`)).status).toBe(400)
})

test.each([
  ['DELETE', path, 'deleteProcess'],
  ['DELETE', `${path}/aliases/${PROCESS_ID}`, 'deleteAlias'],
  ['DELETE', `/api/demo/rest/variables/${PROCESS_ID}`, 'deleteVariable'],
  ['DELETE', `/api/demo/rest/schedules/${SCHEDULE_ID}`, 'deleteSchedule'],
  ['PUT', `/api/demo/rest/schedules/${SCHEDULE_ID}/pause`, 'pauseSchedule'],
  ['PUT', `/api/demo/rest/schedules/${SCHEDULE_ID}/resume`, 'resumeSchedule'],
])('%s %s hands the condition on', async (method, address, called) => {
  expect((await gateway.request(method, address, { headers: { 'if-match': ETAG } })).status).toBe(200)
  expect(gateway.servers.last(called)).toMatchObject({ ifMatch: [ETAG] })
})

test('whoever comes too late is told who came before, and the present state', async () => {
  const present = { etag: '"second"', updatedBy: 'ann', updatedAt: '2026-01-02T03:04:05.678Z' }
  gateway.servers.answers.set('updateProcess', () => {
    throw new Failure('failed_precondition', 'changed_meanwhile', 'Changed', { present })
  })
  const answer = await patch(ETAG)
  expect([answer.status, answer.headers.get('etag')]).toEqual([412, '"second"'])
  expect(await problemOf(answer)).toMatchObject({ code: 'changed_meanwhile', ...present })
})
