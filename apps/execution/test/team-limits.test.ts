import { Status } from '@automation/contract/execution/v1/execution'
import { unavailable } from '@automation/errors'
import { testDatabase, until, userContext } from '@automation/testing'
import { afterAll, expect, test } from 'vitest'
import { preparedSchema } from './prepared-schema.ts'
import { value } from './scripted-runner.ts'
import { System } from './system.ts'

const system = await System.start({ teamMaxRunning: 2, teamMaxQueued: 10 })
const runner = await system.runner({ slots: 16, runs: () => undefined })
afterAll(() => system.stop())

const limit = async (team: string, name: string) =>
  (await system.executions.getLimits({}, userContext(team))).limits.find((each) => each.name === name)

test('what the operator gives a team is in force while the system runs, beside teams that have what all have', async () => {
  const start = async (team: string, count: number) => {
    const ids: string[] = []
    for (let nth = 0; nth < count; nth += 1) ids.push(await system.start(team))
    return ids
  }
  expect(await limit('large', 'running')).toMatchObject({ allowed: 2n, inUse: 0n })
  system.catalog.limits.push(
    { team: 'large', name: 'running', value: 4n },
    { team: 'large', name: 'queued', value: 1n },
    { team: 'small', name: 'running', value: 1n },
    { team: 'small', name: 'runners', value: 3n },
  )
  await until(async () => (await limit('large', 'running'))?.allowed === 4n)
  const [large, small, usual] = [await start('large', 6), await start('small', 3), await start('usual', 3)]
  const inUse = async (team: string) => Number((await limit(team, 'running'))?.inUse)
  // What a slot has come free for may still be on its way.
  const all = async () => [await inUse('large'), await inUse('small'), await inUse('usual')].join(' ')
  await until(async () => (await all()) === '4 1 2')
  // Told also where each runner serves many teams.
  expect([await limit('small', 'runners'), await limit('large', 'runners')]).toMatchObject([
    { allowed: 3n, inUse: 0n },
    undefined,
  ])
  expect(await limit('large', 'queued')).toMatchObject({ allowed: 1n, inUse: 1n })
  expect((await system.get(large[5]!, 'large')).status).toBe(Status.REJECTED)
  // What waits comes as far as each team's own limit goes.
  for (const [team, ids] of Object.entries({ large: large.slice(0, 5), small, usual }))
    for (const id of ids) {
      await runner.run(id)
      expect(await inUse(team)).toBeLessThanOrEqual(team === 'large' ? 4 : 2)
      runner.finish(id, value(1))
      await system.ended(id, team)
    }
})

test('a run that waits at the limit of its team does not count as a late start', async () => {
  const counted = async () =>
    Number(/^execution_start_delay_seconds_count (\d+)/m.exec(await system.metrics.metrics())?.[1])
  const ids = [await system.start('eager'), await system.start('eager'), await system.start('eager')]
  const [first = '', second = '', third = ''] = ids
  await Promise.all([runner.run(first), runner.run(second)])
  const before = await counted()
  runner.finish(first, value(1))
  await runner.run(third)
  expect(await counted()).toBe(before)
  for (const id of [second, third]) runner.finish(id, value(1))
})

test('a run is accepted as soon as the catalog is there, though it was away when the service started', async () => {
  const late = new System(await testDatabase(preparedSchema), {})
  try {
    late.catalog.limitsFailure = unavailable('not there yet')
    await late.addReplica()
    await late.runner()
    await expect(late.run()).rejects.toMatchObject({ kind: 'unavailable' })
    late.catalog.limitsFailure = undefined
    expect((await late.run()).status).toBe(Status.FINISHED)
  } finally {
    await late.stop()
  }
})
