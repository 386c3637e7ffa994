import { Status } from '@automation/contract/execution/v1/execution'
import { RunnerOperatorService } from '@automation/contract/execution/v1/runner_operator'
import { PoolTokenService, TeamPoolService } from '@automation/contract/execution/v1/team_pool'
import { RunnerService } from '@automation/contract/runner/v1/runner'
import { asRunnerWith, asService, ownContext } from '@automation/rpc'
import { until, userContext } from '@automation/testing'
import { v7 } from 'uuid'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { value } from './scripted-runner.ts'
import { System } from './system.ts'

const operator = () => ownContext({ role: 'operator', team: '', subject: 'operator', name: 'olga' }, 10_000)
const never = () => new Promise<undefined>(() => undefined)

describe('pools of one team each', { timeout: 60_000 }, () => {
  let system: System
  beforeAll(async () => {
    system = await System.start({ runnerLeaseMs: 2000 }, 2)
  })
  afterEach(() => system.dismissRunners())
  afterAll(() => system.stop())

  const pools = () => system.replicas[0]!.network.client(TeamPoolService)
  const poolsOf = async (team: string) =>
    (await system.executions.listAgentPools({}, userContext(team))).pools.map(({ slug }) => slug)
  const runners = async () =>
    (await system.replicas[0]!.network.client(RunnerOperatorService).listRunners({}, operator())).runners
  const tokenOf = async (pool: string, livesMs?: bigint) => pools().createPoolToken({ pool, livesMs }, operator())
  const made = async (name: string, team: string, labels: Record<string, string> = {}) => {
    await pools().createPool({ name, team, labels }, operator())
    return (await tokenOf(name)).text
  }
  const inPool = (agentPool: string) => ({ settings: { agentPool } })

  test('are seen and used by their team alone, at each replica, until they are deleted', async () => {
    await made('seen', 'acme')
    expect(await poolsOf('acme')).toEqual(['default', 'seen'])
    expect(await poolsOf('other')).toEqual(['default'])
    await expect(system.start('other', inPool('seen'))).rejects.toThrow(
      'There is no agent pool "seen"; there are default',
    )
    const second = system.replicas[1]!.executions
    const atSecond = async () => (await second.listAgentPools({}, userContext('acme'))).pools.length === 2
    await until(atSecond, { what: 'the second replica to know' })
    const id = await system.start('acme', inPool('seen'))
    await expect(pools().deletePool({ name: 'seen' }, operator())).rejects.toMatchObject({ code: 'pool_in_use' })
    await system.executions.killExecution({ id }, userContext('acme'))
    await system.ended(id, 'acme')
    await pools().deletePool({ name: 'seen' }, operator())
    expect(await poolsOf('acme')).toEqual(['default'])
    await expect(pools().deletePool({ name: 'seen' }, operator())).rejects.toMatchObject({ code: 'pool_not_found' })
  })

  test('have names of their own, and labels of a form', async () => {
    await made('taken', 'acme')
    for (const name of ['taken', 'default'])
      await expect(pools().createPool({ name, team: 'other' }, operator())).rejects.toMatchObject({
        code: 'pool_exists',
      })
    await expect(pools().createPool({ name: 'No', team: 'acme' }, operator())).rejects.toMatchObject({
      fields: [{ path: '/name' }],
    })
    const labels = { 'a b': 'c' }
    await expect(pools().createPool({ name: 'no', team: 'acme', labels }, operator())).rejects.toMatchObject({
      fields: [{ path: '/labels' }],
    })
    await expect(pools().createPool({ name: 'no', team: 'acme' }, userContext('acme'))).rejects.toMatchObject({
      code: 'permission_denied',
    })
  })

  test('open no session by an id that is written another way than rows have it, as none would end that', async () => {
    const poolToken = await made('exact', 'acme')
    const runner = await system.runner({ poolToken, sessionId: v7().toUpperCase() })
    expect(runner.failure).toMatchObject({ code: 'invalid_session' })
  })

  test('take runners with their labels alone, which an operator sees', async () => {
    const poolToken = await made('labelled', 'acme', { gpu: 'a100' })
    const without = await system.runner({ poolToken, labels: { gpu: 'none' } })
    expect(without.failure).toMatchObject({ code: 'labels_missing' })
    const inside = await system.runner({ pool: 'labelled' })
    expect(inside.failure).toMatchObject({ code: 'labels_missing' })
    const runner = await system.runner({ poolToken, labels: { gpu: 'a100', rack: '7' } })
    expect(runner.failure).toBeUndefined()
    expect((await runners()).find(({ id }) => id === runner.sessionId)).toMatchObject({
      pool: 'labelled',
      team: 'acme',
      labels: { gpu: 'a100', rack: '7' },
      poolTokenId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })

  test('give a runner with their token runs of their own alone, whatever it says', async () => {
    const poolToken = await made('own', 'acme')
    await made('neighbour', 'acme')
    await made('stranger', 'other')
    const runner = await system.runner({ poolToken, pool: 'stranger', slots: 8 })
    for (const replica of [0, 1]) runner.grant(8 + replica)
    const waiting = [
      await system.start('acme'),
      await system.start('acme', inPool('neighbour')),
      await system.start('other', inPool('stranger')),
    ]
    const id = await system.start('acme', inPool('own'))
    expect((await system.ended(id, 'acme')).status).toBe(Status.FINISHED)
    // It says that it is another team's, and has a free slot for each of them.
    runner.say({ case: 'credit', value: { slots: 8, team: 'other' } })
    expect(await system.finished(runner, 'acme', inPool('own'))).toBeDefined()
    expect(runner.started.every(({ executionId }) => !waiting.includes(executionId))).toBe(true)
    for (const each of waiting.slice(0, 2)) expect((await system.get(each, 'acme')).status).toBe(Status.QUEUED)
    expect((await system.get(waiting[2]!, 'other')).status).toBe(Status.QUEUED)
    for (const [each, team] of [
      [waiting[0]!, 'acme'],
      [waiting[1]!, 'acme'],
      [waiting[2]!, 'other'],
    ] as const)
      await system.executions.killExecution({ id: each }, userContext(team))
  })

  test('let no runner report on a run that is not its own, nor take over the session of another', async () => {
    const poolToken = await made('honest', 'acme')
    const strangersToken = await made('hostile', 'other')
    const honest = await system.runner({ poolToken, runs: never })
    const id = await system.start('acme', inPool('honest'))
    const { fence } = await honest.run(id)
    const hostile = await system.runner({ poolToken: strangersToken })
    const returnValue = Buffer.from('"forged"')
    hostile.say({
      case: 'result',
      value: { executionId: id, fence, end: { case: 'finished', value: { returnValue } } },
    })
    const line = { timeUs: 1n, level: 1, message: 'forged' }
    hostile.say({ case: 'logs', value: { executionId: id, fence, chunk: { first: 0, entries: [line] } } })
    // Where its answer is here, what was said before was heard.
    await until(() => hostile.stored.includes(id), { what: 'the answer to a forged result' })
    expect((await system.get(id, 'acme')).status).toBe(Status.RUNNING)

    for (const token of [strangersToken, await tokenOf('honest').then(({ text }) => text), undefined]) {
      const thief = await system.runner({ poolToken: token, pool: 'honest', sessionId: honest.sessionId })
      expect(thief.failure).toMatchObject({ code: 'session_lost' })
    }
    const client = system.neighbours.client(RunnerService)
    const asHostile = ownContext(asRunnerWith(strangersToken), 10_000)
    await expect(client.renewSession({ sessionId: honest.sessionId }, asHostile)).rejects.toMatchObject({
      code: 'session_lost',
    })
    honest.finish(id, value('own'))
    const ended = await system.ended(id, 'acme')
    expect(ended.status).toBe(Status.FINISHED)
    // What has become of runs that are others' is not told either.
    const { endedExecutionIds } = await client.renewSession(
      { sessionId: hostile.sessionId, executionIds: [id] },
      asHostile,
    )
    expect(endedExecutionIds).toEqual([])
    const { entries } = await system.executions.listLogs({ executionId: id }, userContext('acme'))
    expect(entries).toEqual([])
  })

  test('leave connections to others, however many calls come with their tokens', async () => {
    const poolToken = await made('greedy', 'acme')
    const runner = await system.runner({ poolToken })
    const { sessionId } = runner
    const client = system.neighbours.client(RunnerService)
    const held = await system.sql.connect()
    const isLocked = `SELECT FROM pg_stat_activity
                       WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%drain_asked_at IS NOT NULL AS drain%'`
    try {
      await held.query('BEGIN')
      await held.query('SELECT FROM sessions WHERE id = $1 FOR UPDATE', [sessionId])
      const renew = () => client.renewSession({ sessionId }, ownContext(asRunnerWith(poolToken), 10_000))
      const renewals = Promise.allSettled(Array.from({ length: 20 }, renew))
      await until(async () => (await system.rows(isLocked)).length > 0, { everyMs: 5 })
      const id = await system.start('other', { idempotencyKey: { key: 'beside', requestHash: new Uint8Array() } })
      expect(await system.rows(isLocked)).toHaveLength(1)
      await system.executions.killExecution({ id }, userContext('other'))
      await held.query('ROLLBACK')
      await renewals
    } finally {
      held.release(true)
    }
    await runner.renew()
  })

  test('leave connections to others, however many runners with their tokens go at once', async () => {
    const poolToken = await made('leaving', 'acme')
    const leaving = await Promise.all(Array.from({ length: 8 }, () => system.runner({ poolToken })))
    const held = await system.sql.connect()
    const isLocked = `SELECT FROM pg_stat_activity
                       WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'UPDATE sessions SET ended_at%'`
    try {
      await held.query('BEGIN')
      const ids = leaving.map(({ sessionId }) => sessionId)
      await held.query('SELECT FROM sessions WHERE id = ANY ($1) FOR UPDATE', [ids])
      const goodbyes = Promise.allSettled(leaving.map((runner) => runner.goodbye()))
      await until(async () => (await system.rows(isLocked)).length > 0, { everyMs: 5 })
      for (const key of ['a', 'b', 'c'])
        await system.start('other', { idempotencyKey: { key, requestHash: new Uint8Array() } })
      // One at each replica.
      expect((await system.rows(isLocked)).length).toBeLessThanOrEqual(2)
      await held.query('ROLLBACK')
      await goodbyes
    } finally {
      held.release(true)
    }
  })

  test('end the sessions and runs of a token that is revoked, at all replicas', async () => {
    await pools().createPool({ name: 'revoked', team: 'acme' }, operator())
    const { text: poolToken, token } = await tokenOf('revoked')
    const runner = await system.runner({ poolToken, runs: never })
    const id = await system.start('acme', inPool('revoked'))
    await runner.run(id)
    await pools().revokePoolToken({ id: token!.id }, operator())
    const { status, timeline } = await system.ended(id, 'acme', 5000)
    expect(status).toBe(Status.ERROR)
    expect(timeline.at(-1)?.explanation).toBe('runner lost: its pool token is not valid any more')
    await until(() => runner.failure !== undefined, { timeoutMs: 5000, what: 'its streams to end' })
    expect(runner.failure).toMatchObject({ code: expect.stringMatching(/^(session_lost|pool_token)$/) })
    expect((await runners()).some(({ id: session }) => session === runner.sessionId)).toBe(false)
    expect((await system.runner({ poolToken })).failure).toMatchObject({ code: 'pool_token' })
    await expect(pools().revokePoolToken({ id: v7() }, operator())).rejects.toMatchObject({
      code: 'pool_token_not_found',
    })
  })

  test('refuse a token that has expired, and end what it has opened', async () => {
    await pools().createPool({ name: 'brief', team: 'acme' }, operator())
    const { text: poolToken } = await tokenOf('brief', 1500n)
    const runner = await system.runner({ poolToken, runs: never })
    expect(runner.failure).toBeUndefined()
    const id = await system.start('acme', inPool('brief'))
    await runner.run(id)
    expect(await system.ended(id, 'acme', 10_000)).toMatchObject({ status: Status.ERROR })
    expect((await system.runner({ poolToken })).failure).toMatchObject({ code: 'pool_token' })
    expect((await system.runner({ poolToken: `pool_${'x'.repeat(43)}` })).failure).toMatchObject({ code: 'pool_token' })
  })

  test('keep of a token nothing that would let anybody in, and tell when it was used', async () => {
    await pools().createPool({ name: 'kept', team: 'acme' }, operator())
    const { text, token } = await tokenOf('kept')
    const check = () =>
      system.replicas[0]!.network.client(PoolTokenService).checkPoolToken(
        { text },
        ownContext(asService('gateway'), 5000),
      )
    expect(await check()).toMatchObject({ pool: 'kept', team: 'acme' })
    const rows = JSON.stringify(await system.rows('SELECT * FROM pool_tokens'))
    expect(rows).not.toContain(text)
    expect(rows).not.toContain(text.slice('pool_'.length))
    const { pools: all } = await pools().listPools({}, operator())
    const kept = all.find(({ name }) => name === 'kept')
    expect(kept?.tokens).toMatchObject([{ id: token!.id, createdBy: 'olga', lastUsedAt: expect.anything() }])
  })
})
