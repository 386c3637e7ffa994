import { invalid, unavailable } from '@automation/errors'
import { until } from '@automation/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { at, execution, EXECUTION_ID, PROCESS_ID } from './contract-records.ts'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'
import { StreamReader } from './sse.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway({ TEAM_LIMITS: 'streams=2' }, { streamCommentMs: 100 })
})
afterAll(() => gateway.stop())
beforeEach(() => gateway.servers.answers.clear())

const open = (query = '', headers: Record<string, string> = {}, method = 'GET') =>
  gateway.request(method, `/api/demo/rest/events${query}`, { headers })
const openStreams = async () => Number(/^gateway_streams (\d+)/m.exec(await gateway.metrics())?.[1])
const allClosed = () => until(async () => (await openStreams()) === 0, { what: 'all streams to be closed' })

/** A team that tells these, and then ends or waits until its reader goes. */
function tells(messages: object[], ends = true): void {
  gateway.servers.answers.set('watchTeam', async function* (_: never, { signal }: { signal: AbortSignal }) {
    yield {}
    yield* messages
    if (!ends) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  } as never)
}

test('the stream of a team has executions as lists show them, and gaps', async () => {
  const parameters = new TextEncoder().encode('{\n  "n": 1.0,\r\n  "text": "a\\nevent: gap"\n}')
  tells([
    { position: 'a.1', time: at, event: { case: 'execution', value: { ...execution, parameters } } },
    { position: '', time: at, event: { case: 'gap', value: { missed: 3, since: at } } },
  ])
  const response = await open()
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const { events, comments, retryMs, text } = await new StreamReader().read(response)
  const list = await (await gateway.rest('GET', '/executions')).json()
  const record = (list as { data: { id: string }[] }).data[0]!
  expect(events.map(({ data, ...event }) => ({ ...event, data: JSON.parse(data) as object }))).toEqual([
    {
      id: 'a.1',
      event: 'execution',
      data: {
        ...record,
        type: 'execution',
        at: '2026-01-02T03:04:05.678Z',
        parameters: { n: 1, text: 'a\nevent: gap' },
      },
    },
    { id: 'a.1', event: 'gap', data: { missed: 3, since: '2026-01-02T03:04:05.678Z' } },
  ])
  expect(record.id).toBe(EXECUTION_ID)
  expect(text).toContain('"n": 1.0')
  expect([comments, retryMs]).toEqual([[], 1000])
  await allClosed()
})

test('what is asked for reaches execution, which judges the id of the last event', async () => {
  tells([])
  await (await open(`?processId=${PROCESS_ID.toUpperCase()}`, { 'last-event-id': 'a.7' })).text()
  expect(gateway.servers.last('watchTeam')).toMatchObject({ after: 'a.7', processId: PROCESS_ID })
  gateway.servers.answers.set('watchTeam', () => {
    throw invalid('/after', 'is not a position', 'invalid_position')
  })
  const wrong = await open('', { 'last-event-id': 'nonsense' })
  expect([wrong.status, (await problemOf(wrong)).errors?.[0]?.path]).toEqual([400, '/Last-Event-ID'])
  gateway.servers.answers.set('watchTeam', () => {
    throw unavailable('away')
  })
  expect((await open()).status).toBe(503)
  await allClosed()
})

test('types that are not sent are named, and refused where nothing else is asked for', async () => {
  tells([])
  const { comments } = await new StreamReader().read(await open('?types=execution,sandbox&types=process'))
  expect(comments).toEqual(['events of sandbox, process are not sent yet'])
  for (const [query, path] of [
    ['?types=schedule', '/types'],
    ['?types=nonsense', '/types'],
    ['?processId=x', '/processId'],
  ] as const) {
    const response = await open(query)
    expect([response.status, (await problemOf(response)).errors?.[0]?.path]).toEqual([400, path])
  }
  await allClosed()
})

test('it is one of the live streams of its team, has comments while nothing happens, and HEAD opens none', async () => {
  tells([], false)
  const head = await open('', {}, 'HEAD')
  expect([head.status, await head.text()]).toEqual([200, ''])
  const streams = [await open(), await open()]
  expect((await problemOf(await open())).code).toBe('too_many_streams')
  const reader = new StreamReader()
  await reader.read(streams[0]!, () => reader.comments.length >= 2)
  await streams[1]!.body!.cancel()
  await allClosed()
})
