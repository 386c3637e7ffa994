import { Status } from '@automation/contract/execution/v1/execution'
import { TeamPoolService } from '@automation/contract/execution/v1/team_pool'
import { TeamRemovalService } from '@automation/contract/execution/v1/team_removal'
import { ownContext, type Neighbours } from '@automation/rpc'
import { operatorContext, until, userContext } from '@automation/testing'
import { v7 } from 'uuid'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import type { ScriptedRunner } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System

const start = async () => void (system = await System.start({ runnerLeaseMs: 3000 }, 2))
afterEach(async () => {
  await system.clear()
  expect(await brokenInvariants(system)).toEqual([])
})

const hourMs = 3_600_000
const never = () => undefined
const podOf = (ageMs = 0) => ({ id: v7({ msecs: Date.now() - ageMs }), pool: 'default' })

/** Those whose specs or runs have come to it. */
const teamsOf = (runner: ScriptedRunner) => [...new Set([...runner.specs.values()].map(({ team }) => team))]

/** To the first replica alone. */
const first = (): Neighbours => ({ ...system.neighbours, replicas: () => [system.replicas[0]!.address] })

async function startAt(replica: number, team: string): Promise<string> {
  const start = { identifier: 'hello' }
  return (await system.replicas[replica]!.executions.startExecution(start, userContext(team))).executionId
}

const rowOf = async ({ sessionId }: ScriptedRunner) =>
  (
    await system.rows('SELECT team, pool, pod_id AS pod, one_team AS "oneTeam" FROM sessions WHERE id = $1', [
      sessionId,
    ])
  )[0]

async function statusOf(id: string, team: string): Promise<Status> {
  return (await system.get(id, team)).status
}

const lost = {
  status: Status.ERROR,
  timeline: expect.arrayContaining([
    expect.objectContaining({
      explanation: 'runner lost: its runner pod is not for this team, or has lost its session',
    }),
  ]) as unknown,
}

describe('runner pods', () => {
  beforeAll(start)
  afterAll(() => system.stop())

  test('a pod gets runs of one team alone, in the pool of its key, whatever it says', async () => {
    const pod = podOf()
    const runner = await system.runner({ pod, pool: 'elsewhere', oneTeam: false, slots: 8 }, first())
    expect(await rowOf(runner)).toEqual({ team: null, pool: 'default', pod: pod.id, oneTeam: true })
    expect((await system.run('a')).status).toBe(Status.FINISHED)
    const id = await system.start('b')
    expect((await system.run('a')).status).toBe(Status.FINISHED)
    expect(await statusOf(id, 'b')).toBe(Status.QUEUED)
    expect(teamsOf(runner)).toEqual(['a'])
    expect(await rowOf(runner)).toMatchObject({ team: 'a' })
  })

  test('whose a pod was in one session it is in the next', async () => {
    const pod = podOf()
    const before = await system.runner({ pod, oneTeam: true })
    expect((await system.run('a')).status).toBe(Status.FINISHED)
    await before.goodbye()
    const after = await system.runner({ pod, oneTeam: false, slots: 8 })
    expect(await rowOf(after)).toMatchObject({ team: 'a' })
    const ids = [await startAt(0, 'b'), await startAt(1, 'b')]
    expect((await system.run('a')).status).toBe(Status.FINISHED)
    for (const id of ids) expect(await statusOf(id, 'b')).toBe(Status.QUEUED)
    expect(teamsOf(after)).toEqual(['a'])
  })

  test('a pod that was a removed team’s becomes no other’s, and nothing of it names the team', async () => {
    const pod = podOf()
    const before = await system.runner({ pod, oneTeam: true })
    expect((await system.run('gone')).status).toBe(Status.FINISHED)
    const removal = system.neighbours.client(TeamRemovalService)
    const remove = () => removal.removeTeam({ team: 'gone' }, operatorContext())
    await until(async () => (await remove()).done, { what: 'the team to be removed' })
    await before.renew('gone')
    await before.goodbye()
    const after = await system.runner({ pod, oneTeam: false, slots: 8 })
    const id = await system.start('b')
    expect(await rowOf(after)).toEqual({ team: 'REMOVED', pool: 'default', pod: pod.id, oneTeam: true })
    expect(await system.rows(`SELECT FROM sessions WHERE team = 'gone'`)).toEqual([])
    expect(await statusOf(id, 'b')).toBe(Status.QUEUED)
    expect(teamsOf(after)).toEqual([])
  })

  test('a pod has one session at a time, which nobody else takes over, nor renews', async () => {
    const pod = podOf()
    const runner = await system.runner({ pod, runs: never })
    expect((await system.runner({ pod })).failure).toMatchObject({ code: 'pod_in_use' })
    const { sessionId } = runner
    const plain = await system.runner({ oneTeam: true })
    for (const script of [{ sessionId }, { sessionId, pod: podOf() }, { sessionId: plain.sessionId, pod: podOf() }]) {
      const thief = await system.runner(script)
      expect(thief.failure).toMatchObject({ code: 'session_lost' })
      await expect(thief.renew()).rejects.toMatchObject({ code: 'session_lost' })
      thief.crash()
    }
    expect(await runner.renew()).toEqual([])
    await runner.goodbye()
    expect((await system.runner({ pod })).failure).toBeUndefined()
  })

  test('whose it is, a pod does not say, with its slots or with its lease', async () => {
    const runner = await system.runner({ pod: podOf(), oneTeam: true })
    runner.say({ case: 'credit', value: { slots: 4, team: 'b' } })
    await runner.renew('b')
    expect(await rowOf(runner)).toMatchObject({ team: null })
    expect((await system.run('a')).status).toBe(Status.FINISHED)
    runner.say({ case: 'credit', value: { slots: 4, team: 'b' } })
    await runner.renew('b')
    const id = await system.start('b')
    expect((await system.run('a')).status).toBe(Status.FINISHED)
    expect(await statusOf(id, 'b')).toBe(Status.QUEUED)
    expect(await rowOf(runner)).toMatchObject({ team: 'a' })
    expect(teamsOf(runner)).toEqual(['a'])
  })

  test('a pod that grants its slots as it should gets the runs of its team from every replica', async () => {
    const runner = await system.runner({ pod: podOf(), oneTeam: true, slots: 6 })
    const ids = await Promise.all(Array.from({ length: 40 }, (_, index) => startAt(index % 2, 'a')))
    for (const id of ids) expect((await system.ended(id, 'a')).status).toBe(Status.FINISHED)
    expect(runner.started).toHaveLength(40)
  })

  test('a pod that could have been forgotten is let in only where it is known', async () => {
    const old = podOf(13 * hourMs)
    expect((await system.runner({ pod: old })).failure).toMatchObject({ code: 'pod_forgotten' })
    expect((await system.runner({ pod: podOf(11 * hourMs) })).failure).toBeUndefined()
    const known = await system.runner({ pod: podOf(), oneTeam: true })
    await known.goodbye()
    await system.rows('UPDATE sessions SET pod_id = $2 WHERE id = $1', [known.sessionId, old.id])
    expect((await system.runner({ pod: old })).failure).toBeUndefined()
  })

  test('a pod is in no pool of one team', async () => {
    const operator = ownContext({ role: 'operator', team: '', subject: 'operator', name: 'olga' }, 5000)
    await system.replicas[0]!.network.client(TeamPoolService).createPool({ name: 'own', team: 'a' }, operator)
    const runner = await system.runner({ pod: { ...podOf(), pool: 'own' } })
    expect(runner.failure).toMatchObject({ code: 'pool_of_team', kind: 'failed_precondition' })
  })
})

const noting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%SET team%'"

// On replicas that run for a while, what happens is decided by when they look at their rows next.
describe('two replicas, of which one has had no time to learn whose a pod is', () => {
  beforeEach(async () => {
    await start()
    return () => system.stop()
  })

  test('where two replicas have slots of a pod for two teams, what one of them gives never reaches it', async () => {
    const runner = await system.runner({ pod: podOf(), oneTeam: false, slots: 8, runs: never })
    // Both have chosen before either knows whose the pod is.
    const other = await system.sql.connect()
    await other.query('BEGIN')
    await other.query('SELECT FROM sessions WHERE id = $1 FOR UPDATE', [runner.sessionId])
    const [a, b] = await Promise.all([startAt(0, 'a'), startAt(1, 'b')])
    await until(async () => (await system.rows(noting)).length === 2, { what: 'both to note whose it is' })
    await other.query('COMMIT')
    other.release()
    const ended = await Promise.all([system.ended(a, 'a'), system.ended(b, 'b')])
    // It has lied: its session is over, and both runs with it.
    expect(ended).toEqual([expect.objectContaining(lost), expect.objectContaining(lost)])
    expect(teamsOf(runner)).toHaveLength(1)
    expect(runner.started).toHaveLength(1)
    await until(() => runner.failure !== undefined, { what: 'its stream to be cut' })
  })

  test('a replica that does not know yet whose a pod is gives it nothing of another team', async () => {
    const runner = await system.runner({ pod: podOf(), oneTeam: false, slots: 8, runs: never })
    const a = await startAt(0, 'a')
    await runner.run(a)
    const b = await startAt(1, 'b')
    expect(await system.ended(b, 'b')).toMatchObject(lost)
    expect(runner.started.map(({ executionId }) => executionId)).toEqual([a])
    expect(teamsOf(runner)).toEqual(['a'])
  })

  test('of two replicas that note whose a pod is at the same time, one does', async () => {
    const runner = await system.runner({ pod: podOf(), oneTeam: false, runs: never })
    const other = await system.sql.connect()
    await other.query('BEGIN')
    await other.query("UPDATE sessions SET team = 'a' WHERE id = $1", [runner.sessionId])
    const id = await startAt(1, 'b')
    await until(async () => (await system.rows(noting)).length > 0, { what: 'the second to wait for the first' })
    await other.query('COMMIT')
    other.release()
    expect(await system.ended(id, 'b')).toMatchObject(lost)
    expect(runner.started).toEqual([])
    expect(teamsOf(runner)).toEqual([])
  })
})
