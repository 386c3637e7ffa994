import { invalid, unavailable } from '@automation/errors'
import type { ListTeamChangesRequest } from '@automation/contract/common/v1/change'
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
function tells(messages: object[], ends = true, position = ''): void {
  gateway.servers.answers.set('watchTeam', async function* (_: never, { signal }: { signal: AbortSignal }) {
    yield { position }
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
  const response = await open('?types=execution')
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
  await (await open(`?types=execution&processId=${PROCESS_ID.toUpperCase()}`, { 'last-event-id': 'a.7' })).text()
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

test('types that are not there are refused', async () => {
  for (const [query, path] of [
    ['?types=nonsense', '/types'],
    ['?processId=x', '/processId'],
  ] as const) {
    const response = await open(query)
    expect([response.status, (await problemOf(response)).errors?.[0]?.path]).toEqual([400, path])
  }
  await allClosed()
})

test('where a restore goes back behind what was told, what came since is told behind a gap', async () => {
  tells([], false)
  let restored = false
  const change = { at, type: 'process', change: 'updated', id: PROCESS_ID, processId: PROCESS_ID }
  gateway.servers.answers.set('listTeamChanges', (({ teams }: ListTeamChangesRequest) => ({
    teams: teams.map(({ team, after = 9n }) => {
      const last = restored ? 4n : 9n
      return { team, last, changes: after < last ? [{ ...change, number: last }] : [] }
    }),
  })) as never)
  const reader = new StreamReader()
  const response = await open('?types=process')
  restored = true
  await reader.read(response, () => reader.events.length > 0)
  expect(reader.events[0]!.event).toBe('gap')
  await allClosed()
})

test('what changes at other services is told with what came from execution, and the id of an event says where each is', async () => {
  tells([{ position: 'a.1', time: at, event: { case: 'execution', value: execution } }], false)
  const change = { at, type: 'process', change: 'updated', id: PROCESS_ID, processId: PROCESS_ID }
  // The catalog alone has anything: its requests come from readers that know where it is.
  const changes = [
    { ...change, number: 5n },
    { ...change, number: 6n, type: 'install', processId: '' },
    { ...change, number: 9n },
  ]
  gateway.servers.answers.set('listTeamChanges', (({ teams }: ListTeamChangesRequest) => ({
    teams: teams.map(({ team, after }) =>
      after === undefined || after < 4n
        ? { team, last: 0n }
        : { team, last: 9n, changes: changes.filter(({ number }) => number > after) },
    ),
  })) as never)
  const read = async (lastId: string, count: number, query = '') => {
    const reader = new StreamReader()
    await reader.read(await open(query, { 'last-event-id': lastId }), () => reader.events.length >= count)
    return reader.events.map(({ data, ...event }) => ({ ...event, data: JSON.parse(data) as Record<string, unknown> }))
  }
  const reader = new StreamReader()
  await reader.read(await open('', { 'last-event-id': '~4~~~0' }), () => reader.events.length >= 5)
  const delivered = reader.events.map(
    ({ event, data }) => `${event} ${(JSON.parse(data) as { missed?: number }).missed ?? ''}`,
  )
  // 7 and 8 are not kept any more.
  expect(delivered.filter((one) => !one.startsWith('execution'))).toEqual(['process ', 'install ', 'gap 2', 'process '])
  expect(reader.events.at(-1)!.id).toMatch(/^a\.1~9~0~0~[0-9a-z]+$/)
  expect(JSON.parse(reader.events.find(({ event }) => event === 'install')!.data)).toEqual({
    id: PROCESS_ID,
    type: 'install',
    at: '2026-01-02T03:04:05.678Z',
    change: 'updated',
  })
  // Executions were followed and told nothing: some may be missing. What is not of this process is left out.
  expect(
    (await read('-~8~0~0~k', 2, `?types=execution,install,process&processId=${PROCESS_ID}`)).map(({ event }) => event),
  ).toContain('gap')
  const [first] = await read('~4~~~0', 1, '?types=install')
  expect([first?.event, first?.id.split('~').slice(0, 2)]).toEqual(['install', ['', '6']])
  for (const wrong of ['~x~~~0', 'a~1', '~99999999999999999999~~~0'])
    expect((await problemOf(await open('', { 'last-event-id': wrong }))).errors?.[0]?.path).toBe('/Last-Event-ID')
  gateway.servers.answers.set('listTeamChanges', () => {
    throw unavailable('away')
  })
  expect((await open()).status).toBe(503)
  await allClosed()
})

test('before execution has told of anything, the id of an event says where that began', async () => {
  tells([], false, 'a.0')
  const change = { at, type: 'process', change: 'updated', id: PROCESS_ID, processId: PROCESS_ID, number: 1n }
  gateway.servers.answers.set('listTeamChanges', (({ teams }: ListTeamChangesRequest) => ({
    teams: teams.map(({ team, after }) => ({ team, last: 1n, changes: after === 0n ? [change] : [] })),
  })) as never)
  const reader = new StreamReader()
  await reader.read(await open('', { 'last-event-id': '~0~1~1~0' }), () => reader.events.length > 0)
  const { id } = reader.events[0]!
  expect(id).toMatch(/^a\.0~1~1~1~/)
  await (await open('', { 'last-event-id': id })).body!.cancel()
  expect(gateway.servers.last('watchTeam')).toMatchObject({ after: 'a.0' })
  await allClosed()
})

test('an answer that was asked for by readers who have gone tells nothing to those who came since', async () => {
  tells([], false)
  const held = Promise.withResolvers<void>()
  let last = 8n
  let reads = 0
  const change = { at, type: 'process', change: 'updated', id: PROCESS_ID, processId: PROCESS_ID, number: 11n }
  gateway.servers.answers.set('listTeamChanges', (async ({ teams }: ListTeamChangesRequest) => {
    const told = teams.map(({ team, after }) => ({
      team,
      last,
      changes: after === 10n && last === 11n ? [change] : [],
    }))
    if (teams[0]!.after !== undefined && (reads += 1) === 1) await held.promise
    return { teams: told }
  }) as never)
  const first = await open('?types=process')
  await until(() => reads > 0)
  await first.body!.cancel()
  await allClosed()
  last = 10n
  const second = await open('?types=process')
  last = 11n
  held.resolve()
  const reader = new StreamReader()
  await reader.read(second, () => reader.events.length > 0)
  expect(reader.events.map(({ event }) => event)).toEqual(['process'])
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
