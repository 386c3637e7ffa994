import { memoryAtRest, until } from '@automation/testing'
import { expect, onTestFinished, test } from 'vitest'
import { CallLimits } from '../src/auth/call-limits.ts'
import { startGateway } from './gateway-for-tests.ts'

/** How many of these calls are let through. */
function passed(limits: CallLimits, team: string, calls: number, atMs: number): number {
  let count = 0
  for (let nth = 0; nth < calls; nth += 1)
    try {
      limits.count(team, atMs)
      count += 1
    } catch (error) {
      expect(error).toMatchObject({ kind: 'resource_exhausted', code: 'too_many_calls', retryAfterS: 1 })
    }
  return count
}

test('a team makes as many calls a second as it may, each team for itself, and one without a limit any number', () => {
  const limits = new CallLimits(
    (team) => ({ a: 10, b: 5 })[team],
    () => 1,
  )
  expect([passed(limits, 'a', 100, 0), passed(limits, 'b', 100, 0), passed(limits, 'c', 100, 0)]).toEqual([10, 5, 100])
  expect(passed(limits, 'a', 100, 100)).toBe(1)
  expect(passed(limits, 'a', 100, 60_000)).toBe(10)
})

test('calls that anybody may make take none from those with a token', () => {
  const limits = new CallLimits(
    () => 2,
    () => 1,
  )
  for (let nth = 0; nth < 2; nth += 1) limits.countOpen('a', 0)
  expect(() => limits.countOpen('a', 0)).toThrow('more than 2 calls a second')
  expect(passed(limits, 'a', 3, 0)).toBe(2)
})

test('calls for teams that are not there take bounded memory, and none from a team that calls', () => {
  const limits = new CallLimits(
    () => 2,
    () => 1,
  )
  const before = memoryAtRest()
  for (let nth = 0; nth < 300_000; nth += 1) {
    limits.countOpen(`stranger-${nth}`, 0)
    if (nth % 5000 === 0) expect(passed(limits, 'a', 3, nth * 1000)).toBe(2)
  }
  expect(memoryAtRest() - before).toBeLessThan(10e6)
})

test('several gateways let through a share each', () => {
  const gateways = [1, 2].map(
    () =>
      new CallLimits(
        () => 10,
        () => 2,
      ),
  )
  expect(gateways.map((limits) => passed(limits, 'a', 100, 0))).toEqual([5, 5])
})

test('a small limit lets one call through now and then at each of many gateways', () => {
  const limits = new CallLimits(
    () => 1,
    () => 1,
  )
  expect(passed(limits, 'a', 3, 0)).toBe(1)
  expect(passed(limits, 'a', 3, 999)).toBe(0)
  expect(passed(limits, 'a', 3, 1999)).toBe(1)
})

test('strangers exchange tokens and download by links as often as a team may call, from each address', async () => {
  const settings = { TEAM_LIMITS: 'callsPerSecond=2', TRUSTED_PROXIES: '127.0.0.1' }
  const gateway = await startGateway(settings, {}, ({ answers }) =>
    answers.set('listTeamLimits', () => ({ revision: 1n, gateways: 1 })),
  )
  onTestFinished(() => gateway.stop())
  const status = async (method: string, path: string, address: string) => {
    const headers = { authorization: '', 'x-api-token': 'a', 'x-forwarded-for': address }
    return (await gateway.request(method, `/api/demo/rest${path}`, { headers })).status
  }
  await until(async () => (await status('POST', '/auth/token', '192.0.2.1')) === 200)
  const flood = (method: string, path: string) =>
    Promise.all(Array.from({ length: 20 }, () => status(method, path, '192.0.2.1')))
  expect(await flood('POST', '/auth/token')).toContain(429)
  expect(await status('POST', '/auth/token', '192.0.2.2')).toBe(200)
  expect(await flood('GET', '/storage/signed/a')).toContain(429)
  expect((await gateway.rest('GET', '/executions')).status).toBe(200)
})

test('teams have the limit of the settings, and their own where there is one', async () => {
  const limits = [{ team: 'demo', name: 'callsPerSecond', value: 1000n }]
  const answer = { revision: 1n, gateways: 1, limits: [] as typeof limits }
  const gateway = await startGateway({ TEAM_LIMITS: 'callsPerSecond=2' }, {}, ({ answers }) =>
    answers.set('listTeamLimits', () => answer),
  )
  onTestFinished(() => gateway.stop())
  const statusOfAll = async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => gateway.rest('GET', '/executions')))
    return answers.map(({ status }) => status)
  }
  expect(await statusOfAll()).toContain(429)
  Object.assign(answer, { revision: 2n, limits })
  await until(async () => (await statusOfAll()).every((status) => status === 200))
})
