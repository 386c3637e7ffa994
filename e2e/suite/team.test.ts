import { describe, expect, test } from 'vitest'
import type { Team } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { makeProcess } from './runs.ts'
import { client, hasOther, other, shared, unique } from './shared-system.ts'

const patch = (input: unknown) => other.patch<Team>('/team', input)

/** The team as it was; the tests of parameter validation switch that setting of the same team meanwhile. */
const asBefore = (team: Team) => ({ ...team, paramsSchemaValidationEnabled: expect.any(Boolean) })

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

  test.for([
    ['/zoneId', { zoneId: 'Mars/Olympus' }],
    ['/zoneId', { zoneId: 5 }],
    ['/zoneId', { zoneId: '../etc/passwd' }],
    ['/name', { name: 5 }],
    ['/name', { name: 'x'.repeat(256) }],
    ['/paramsSchemaValidationEnabled', { paramsSchemaValidationEnabled: 'yes' }],
    ['/parentTeamSlugs', { parentTeamSlugs: 'x' }],
    ['/parentTeamSlugs/0', { parentTeamSlugs: [5] }],
  ] as const)('a wrong value is refused with the path %s and changes nothing', async ([path, input]) => {
    const before = (await other.get<Team>('/team')).body
    expectProblem(await patch({ ...input }), 400, { path })
    expect((await other.get<Team>('/team')).body).toEqual(asBefore(before))
  })
})

describe.skipIf(!hasOther)('two teams', () => {
  test('nothing of one team is found through the other', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const version = await client.post<{ id: string }>(`/processes/${process.id}/versions`, { tag: 'v' })
    const alias = await client.post<{ id: string }>(`/processes/${process.id}/aliases`, { name: 'a', versionId: 'v' })
    const variable = await client.post<{ id: string }>('/variables', { key: `K${Date.now()}x`, value: 'v' })
    const run = await client.post<{ executionId: string }>(`/processes/${process.id}/execute`, {})
    const foreign = await makeProcess({}, other)
    const execution = `/executions/${run.body.executionId}`
    const calls: [string, string, unknown?][] = [
      ['GET', `/processes/${process.id}`],
      ['GET', `/processes/${process.slug}`],
      ['PATCH', `/processes/${process.id}`, { name: 'x' }],
      ['DELETE', `/processes/${process.id}`],
      ['GET', `/processes/${process.id}/versions`],
      ['POST', `/processes/${process.id}/versions`, { tag: 'x' }],
      ['GET', `/processes/${process.id}/versions/v`],
      ['GET', `/processes/${foreign.id}/versions/${version.body.id}`],
      ['DELETE', `/processes/${foreign.id}/versions/${version.body.id}`],
      ['POST', `/processes/${foreign.id}/aliases`, { name: 'x', versionId: version.body.id }],
      ['GET', `/processes/${foreign.id}/aliases/${alias.body.id}`],
      ['DELETE', `/processes/${foreign.id}/aliases/${alias.body.id}`],
      ['POST', `/processes/${process.id}/execute`, {}],
      ['POST', `/processes/${process.id}/execute-sync`, {}],
      ['POST', `/processes/${foreign.id}/execute`, { tag: version.body.id }],
      ['GET', execution],
      ['GET', `${execution}/logs`],
      ['PUT', `${execution}/kill`],
      ['POST', `${execution}/rerun`],
      ['PATCH', `/variables/${variable.body.id}`, { value: 'x' }],
      ['DELETE', `/variables/${variable.body.id}`],
    ]
    for (const [method, path, json] of calls) expectProblem(await other.call(method, path, { json }), 404)
    expect((await client.get(`/processes/${process.id}`)).body).toEqual(process)
    const list = await other.get<{ total: number }>('/processes', { keywords: process.name })
    expect(list.body.total).toBe(0)
    const runs = await other.get<{ total: number }>('/executions', { processId: process.id })
    expect(runs.body.total ?? 0).toBe(0)
  })

  test('nor anything of its modules', async () => {
    const made = async (one: typeof client) => {
      const values = { name: unique('module'), sourceCode: 'exports.a = 1' }
      return (await one.post<{ id: string; name: string }>('/modules', values)).body
    }
    const [module, foreign] = [await made(client), await made(other)]
    const path = `/modules/${module.id}`
    const version = (await client.post<{ id: string }>(`${path}/versions`, { tag: 'v' })).body
    const alias = (await client.post<{ id: string }>(`${path}/aliases`, { name: 'a', versionId: version.id })).body
    const calls: [string, string, unknown?][] = [
      ['GET', path],
      ['GET', `/modules/${module.name}`],
      ['PATCH', path, { sourceCode: 'x' }],
      ['DELETE', path],
      ['GET', `${path}/versions`],
      ['POST', `${path}/versions`, { tag: 'x' }],
      ['GET', `${path}/versions/v`],
      ['GET', `/modules/${foreign.id}/versions/${version.id}`],
      ['DELETE', `/modules/${foreign.id}/versions/${version.id}`],
      ['GET', `${path}/aliases`],
      ['POST', `/modules/${foreign.id}/aliases`, { name: 'x', versionId: version.id }],
      ['GET', `/modules/${foreign.id}/aliases/${alias.id}`],
      ['DELETE', `/modules/${foreign.id}/aliases/${alias.id}`],
    ]
    for (const [method, each, json] of calls) expectProblem(await other.call(method, each, { json }), 404)
    expect((await client.get(path)).body).toMatchObject(module)
    const { data } = (await other.get<{ data: { id: string }[] }>('/modules', { limit: 1000 })).body
    expect(data.map(({ id }) => id)).toContain(foreign.id)
    expect(data.map(({ id }) => id)).not.toContain(module.id)
  })
})
