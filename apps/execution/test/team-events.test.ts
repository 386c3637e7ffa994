import { Status } from '@automation/contract/execution/v1/execution'
import { TeamEventService, type WatchTeamResponse } from '@automation/contract/execution/v1/team_event'
import { until, userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ScriptedRunner } from './scripted-runner.ts'
import { System, type Replica } from './system.ts'

let system: System
let runner: ScriptedRunner

beforeAll(async () => {
  system = await System.start({ teamMaxRunning: 40 }, 2)
  runner = await system.runner({ slots: 80, runs: () => undefined })
})
afterAll(() => system.stop())

interface Options {
  after?: string
  processId?: string
  replica?: Replica
}

/** Somebody who follows a team, message by message where it is asked to wait. */
class Follower {
  /** Where it begins. */
  beginning = ''
  /** `FINISHED id`, `gap 3`. */
  readonly delivered: string[] = []
  readonly messages: WatchTeamResponse[] = []
  readonly #stream: AsyncIterator<WatchTeamResponse>
  readonly #leave = new AbortController()

  private constructor(team: string, { after = '', processId = '', replica = system.replicas[0]! }: Options) {
    const context = { ...userContext(team), deadlineMs: undefined, signal: this.#leave.signal }
    const client = replica.network.client(TeamEventService)
    this.#stream = client.watchTeam({ after, processId }, context)[Symbol.asyncIterator]()
  }

  /** One that reads what comes, or that has opened its stream alone. */
  static async of(team: string, options: Options = {}, reads = true): Promise<Follower> {
    const follower = new Follower(team, options)
    const { value } = await follower.#stream.next()
    const { event, position } = value as WatchTeamResponse
    expect(event.case).toBeUndefined()
    follower.beginning = position
    if (reads) follower.reads()
    return follower
  }

  reads(): void {
    this.done = this.#read()
    this.done.catch(() => undefined)
  }

  /** Once the stream is over. */
  done: Promise<void> | undefined

  leave(): void {
    this.#leave.abort()
  }

  async has(...last: string[]): Promise<void> {
    await until(() => last.every((one) => this.delivered.includes(one)), {
      what: () => `${last.join(', ')}; was delivered ${this.delivered.join(', ')}`,
    })
  }

  async #read(): Promise<void> {
    for (let next = await this.#stream.next(); next.done !== true; next = await this.#stream.next()) {
      const { event } = next.value
      this.messages.push(next.value)
      if (event.case === 'execution') this.delivered.push(`${Status[event.value.status]} ${event.value.id}`)
      else if (event.case === 'gap') this.delivered.push(`gap ${event.value.missed}`)
    }
  }
}

const all = (id: string) => ['CREATED', 'RUNNING', 'FINISHED'].map((status) => `${status} ${id}`)
const executionIn = ({ event }: WatchTeamResponse) => (event.case === 'execution' ? event.value : undefined)

test('a team is told of each status of its executions as it comes, at every replica, and of no other team', async () => {
  const near = await Follower.of('demo')
  const far = await Follower.of('demo', { replica: system.replicas[1] })
  const stranger = await Follower.of('stranger')
  const first = await system.finished(runner, 'demo')
  const second = await system.finished(runner, 'demo')
  for (const follower of [near, far]) {
    await follower.has(`FINISHED ${second}`)
    expect(follower.delivered).toEqual([...all(first), ...all(second)])
  }
  const theirs = await system.finished(runner, 'stranger')
  await stranger.has(`FINISHED ${theirs}`)
  expect(stranger.delivered).toEqual(all(theirs))
  for (const follower of [near, far, stranger]) follower.leave()
})

test('an event has the record as lists show it, as it was then', async () => {
  const follower = await Follower.of('demo')
  const id = await system.finished(runner, 'demo', { parameters: Buffer.from('{"a":1}'), comment: 'why' })
  await follower.has(`FINISHED ${id}`)
  const [created, , finished] = follower.messages.map(executionIn)
  expect(created?.timeline.map(({ status }) => status)).toEqual([Status.CREATED])
  expect([created?.returnValue, created?.endedAt]).toEqual([undefined, undefined])
  expect(finished).toEqual((await system.list()).executions.find((one) => one.id === id))
  follower.leave()
})

test('who asks for a process is told of that alone', async () => {
  const processId = system.catalog.put('other')
  const follower = await Follower.of('demo', { processId })
  await system.finished(runner, 'demo')
  const id = await system.finished(runner, 'demo', { identifier: 'other' })
  await follower.has(`FINISHED ${id}`)
  expect(follower.delivered).toEqual(all(id))
  follower.leave()
})

test('from every position a reader goes on without a gap or a repetition, at any replica, later as well', async () => {
  const whole = await Follower.of('demo')
  const ids = [await system.finished(runner, 'demo'), await system.finished(runner, 'demo')]
  await whole.has(`FINISHED ${ids[1]}`)
  const positions = whole.messages.map(({ position }) => position)
  const again = await Promise.all(
    positions.map((after, index) => Follower.of('demo', { after, replica: system.replicas[index % 2] })),
  )
  ids.push(await system.finished(runner, 'demo'))
  await whole.has(`FINISHED ${ids[2]}`)
  expect(whole.delivered).toEqual(ids.flatMap(all))
  for (const [index, follower] of again.entries()) {
    await follower.has(`FINISHED ${ids[2]}`)
    expect(follower.delivered).toEqual(whole.delivered.slice(index + 1))
  }
  for (const follower of [whole, ...again]) follower.leave()
})

test.each(['of a team that has had none', 'behind others'])(
  'from its beginning a reader goes on without a gap or a repetition: %s',
  async () => {
    const whole = await Follower.of('begins')
    whole.leave()
    const ids = [await system.finished(runner, 'begins'), await system.finished(runner, 'begins')]
    const again = await Follower.of('begins', { after: whole.beginning, replica: system.replicas[1] })
    await again.has(`FINISHED ${ids[1]}`)
    expect(again.delivered).toEqual(ids.flatMap(all))
    expect(again.beginning).toBe('')
    again.leave()
  },
)

test('a position of another team, or of what is not kept, says that events are missing; any other text is refused', async () => {
  const own = await Follower.of('demo')
  await system.finished(runner, 'demo')
  await until(() => own.messages.length === 3)
  const { position: after } = own.messages[0]!
  const stranger = await Follower.of('stranger', { after })
  await stranger.has('gap 0')
  expect(stranger.messages[0]?.position).toBe('')
  const gone = await Follower.of('demo', { after: '0198c2b0-9a4c-7d2e-b1f3-5c8e7a6d9b04.1.0.1' })
  await gone.has('gap 0')
  for (const wrong of ['x', `${after}.1`, `${after}\0`, '-', '0198c2b0-9a4c-7d2e-b1f3-5c8e7a6d9b04.1.-1.1'])
    await expect(Follower.of('demo', { after: wrong })).rejects.toMatchObject({ code: 'invalid_position' })
  for (const follower of [own, stranger, gone]) follower.leave()
})

test('who comes again after very much is told of a gap, and of what comes then', async () => {
  const follower = await Follower.of('far')
  const id = await system.finished(runner, 'far')
  await follower.has(`FINISHED ${id}`)
  follower.leave()
  await follower.done?.catch(() => undefined)
  const [last] = await system.rows<{ xid: string }>(
    `INSERT INTO timeline_events (execution_id, sequence, status, at, team, process_id)
     SELECT execution_id, 1000 + n, ${Status.RUNNING}, now(), team, process_id
       FROM timeline_events, generate_series(1, 1001) AS n WHERE execution_id = $1 AND sequence = 1 RETURNING xid`,
    [id],
  )
  // Transactions of other databases of the server, too, keep these from having been missed.
  const areOver = 'SELECT 1 FROM (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS horizon) h WHERE horizon > $1::xid8'
  await until(async () => (await system.rows(areOver, [last!.xid])).length > 0, { what: 'older transactions to end' })
  const again = await Follower.of('far', { after: follower.messages[0]?.position })
  await again.has('gap 1003')
  const next = await system.finished(runner, 'far')
  await again.has(`FINISHED ${next}`)
  expect(again.delivered).toEqual(['gap 1003', ...all(next)])
  again.leave()
})

test('a slow reader is told what it missed, and holds nobody up', async () => {
  const slow = await Follower.of('slow', {}, false)
  const quick = await Follower.of('slow')
  const parameters = Buffer.from(JSON.stringify({ text: 'x'.repeat(50_000) }))
  const ids: string[] = []
  for (let count = 0; count < 10; count += 1) {
    ids.push(await system.finished(runner, 'slow', { parameters }))
    await quick.has(`FINISHED ${ids.at(-1)}`)
  }
  expect(quick.delivered).toEqual(ids.flatMap(all))
  slow.reads()
  await until(() => slow.delivered.some((one) => one.startsWith('gap ')))
  const had = slow.delivered.length - 1
  expect(slow.delivered).toEqual([...quick.delivered.slice(0, had), `gap ${quick.delivered.length - had}`])
  expect(had).toBeGreaterThan(1)
  const gap = slow.messages.at(-1)
  expect(gap?.event.case === 'gap' && gap.event.value.since).toEqual(quick.messages[had]?.time)
  const next = await system.finished(runner, 'slow')
  await slow.has(`FINISHED ${next}`)
  expect(slow.delivered.slice(had + 1)).toEqual(all(next))
  const behind = await Follower.of('slow', { after: gap?.position })
  await behind.has(`FINISHED ${next}`)
  expect(behind.delivered).toEqual(all(next))
  for (const follower of [slow, quick, behind]) follower.leave()
})

test('a replica that stops ends its streams', async () => {
  const replica = await system.addReplica()
  const follower = await Follower.of('demo', { replica })
  system.forget(replica)
  await replica.part.stop(0)
  await expect(follower.done).rejects.toMatchObject({ kind: 'unavailable' })
})
