import { describe, expect, test } from 'vitest'
import type { Team } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { makeProcess } from './runs.ts'
import { makeSchedule, scheduleOf } from './scheduling.ts'
import { client, hasOther, other, shared } from './shared-system.ts'

const patch = (input: unknown) => other.patch<Team>('/team', input)

/** The team as it was, but changed since; the tests of parameter validation switch that setting of the same team meanwhile. */
const asBefore = (team: Team) => ({
  ...team,
  paramsSchemaValidationEnabled: expect.any(Boolean),
  updatedBy: expect.any(String),
  updatedAt: expect.any(String),
})

describe('the team', () => {
  test('it is read with all its fields', async () => {
    const { body, status } = await client.get<Team>('/team')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      slug: shared.main.team,
      name: expect.stringMatching(/\S/),
      zoneId: expect.stringMatching(/\S/),
      parentTeamSlugs: [],
      paramsSchemaValidationEnabled: expect.any(Boolean),
      createdAt: expect.stringMatching(/Z$/),
    })
  })
})

describe.skipIf(!hasOther)('updating the team', { concurrent: false }, () => {
  test('only provided fields are updated', async () => {
    const before = (await other.get<Team>('/team')).body
    const renamed = await patch({ name: 'Another name' })
    expect(renamed.status, renamed.text).toBe(200)
    expect(renamed.body).toEqual({ ...asBefore(before), name: 'Another name' })
    const moved = await patch({ zoneId: 'Europe/Berlin' })
    expect(moved.body).toEqual({ ...asBefore(before), name: 'Another name', zoneId: 'Europe/Berlin' })
    expect((await other.get<Team>('/team')).body).toEqual(asBefore(moved.body))
  })

  test('addresses that tokens may be used from hold that of the caller, else nothing changes', async () => {
    expectProblem(await patch({ allowedAddresses: ['192.0.2.0/24'] }), 400, { path: '/allowedAddresses' })
    expectProblem(await patch({ allowedAddresses: ['0.0.0.0/0', '10.0.0.0/33'] }), 400, { path: '/allowedAddresses/1' })
    const everywhere = ['0.0.0.0/0', '::/0']
    expect((await patch({ allowedAddresses: everywhere })).body.allowedAddresses).toEqual(everywhere)
    expect((await other.get('/executions')).status).toBe(200)
    expect((await patch({ allowedAddresses: null })).body.allowedAddresses).toEqual([])
  })

  test('null for the parents and an empty list change nothing for a team without parents', async () => {
    expect((await patch({ parentTeamSlugs: null })).body.parentTeamSlugs).toEqual([])
    expect((await patch({ parentTeamSlugs: [] })).body.parentTeamSlugs).toEqual([])
  })

  test('runs see the team and its zone', async () => {
    await patch({ zoneId: 'Asia/Tokyo' })
    const process = await makeProcess({ sourceCode: 'return [svc.team, svc.execution.timezone]' }, other)
    const answer = await other.post(`/processes/${process.id}/execute-sync`, {})
    expect(answer.body).toEqual([{ slug: other.address.team, timezone: 'Asia/Tokyo' }, 'Asia/Tokyo'])
  })

  test('schedules are read in the zone of the team, and follow it', async () => {
    await patch({ zoneId: 'Asia/Tokyo' })
    const process = await makeProcess({}, other)
    const daily = await makeSchedule(process, { cron: '30 9 * * *' }, other)
    const once = await makeSchedule(process, { dateTime: '2031-01-01T09:00:00' }, other)
    expect(daily.nextExecutionAt).toMatch(/T00:30:00\.000Z$/)
    expect(once.dateTime).toBe('2031-01-01T00:00:00.000Z')
    await patch({ zoneId: 'Asia/Kolkata' })
    expect((await scheduleOf(daily, other)).nextExecutionAt).toMatch(/T04:00:00\.000Z$/)
    expect(await scheduleOf(once, other)).toEqual(once)
    await other.delete(`/processes/${process.id}`)
  })
})
