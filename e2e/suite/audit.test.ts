import { describe, expect, test } from 'vitest'
import type { Alias, Execution, Module, Page, Sandbox, Schedule, Variable, Version } from '../client/records.ts'
import { eventsOf, expectEvents, expectWho, Initiated, initiatedBy } from './audit-events.ts'
import { waitUntil } from '../system/wait-until.ts'
import { expectProblem } from './problem.ts'
import { awaitEnd, execute, executionOf, makeProcess, publish } from './runs.ts'
import { client, contract, hasOther, other, unique } from './shared-system.ts'

const ann = new Initiated(client.address, contract)

const id = async (answer: Promise<{ status: number; text: string; body: { id: string } }>) => {
  const { status, text, body } = await answer
  expect(status, text).toBe(201)
  return body.id
}

describe('audit events', () => {
  test('of a process, its versions and aliases tell who did what, also when it is gone', async () => {
    const process = await makeProcess({}, ann)
    const path = `/processes/${process.id}`
    await ann.patch(path, { description: 'new' })
    await id(ann.post<Version>(`${path}/versions`, { tag: 'v1' }))
    const alias = await id(ann.post<Alias>(`${path}/aliases`, { name: 'live', versionId: 'v1' }))
    await ann.patch(`${path}/aliases/${alias}`, { name: 'now' })
    await ann.delete(`${path}/aliases/${alias}`)
    await ann.delete(`${path}/versions/v1`)
    await ann.delete(path)
    const words = ['created', 'updated', 'published', 'alias_created', 'alias_updated', 'alias_deleted']
    const events = await expectEvents('PROCESS', process.id, [...words, 'version_deleted', 'deleted'])
    expectWho(events)
    expect(events.every(({ user }) => user === process.createdBy)).toBe(true)
  })

  test('of a module and a variable do the same', async () => {
    const module = await id(ann.post<Module>('/modules', { name: unique('module'), sourceCode: 'exports.a = 1' }))
    await ann.patch(`/modules/${module}`, { sourceCode: 'exports.a = 2' })
    await id(ann.post<Version>(`/modules/${module}/versions`, { tag: 'v1' }))
    const alias = await id(ann.post<Alias>(`/modules/${module}/aliases`, { name: 'live', versionId: 'v1' }))
    await ann.delete(`/modules/${module}/aliases/${alias}`)
    await ann.delete(`/modules/${module}/versions/v1`)
    await ann.delete(`/modules/${module}`)
    const words = ['created', 'updated', 'published', 'alias_created', 'alias_deleted', 'version_deleted', 'deleted']
    expectWho(await expectEvents('MODULE', module, words))

    const key = unique('V').replaceAll('-', '_')
    const variable = await id(ann.post<Variable>('/variables', { key, value: 'x' }))
    await ann.patch(`/variables/${variable}`, { value: 'y' })
    await ann.delete(`/variables/${variable}`)
    expectWho(await expectEvents('VARIABLE', variable, ['created', 'updated', 'deleted']))
  })

  test('of executions: started by users, webhooks and code; killed; rerun', async () => {
    const slow = await makeProcess({ sourceCode: 'await new Promise((go) => setTimeout(go, 30000))' })
    const killed = await execute(slow, {}, ann)
    expect((await ann.put(`/executions/${killed}/kill`)).status).toBe(202)
    expect((await ann.post(`/executions/${killed}/rerun`)).status).toBe(202)
    const events = await expectEvents('EXECUTION', killed, ['started', 'killed', 'rerun'])
    expectWho(events)
    expect(events[0]!.createdAt.slice(0, 23)).toBe((await executionOf(killed)).createdAt.slice(0, 23))
    await client.delete(`/processes/${slow.id}`)

    const child = await makeProcess({ sourceCode: 'return 1' })
    const hook = await makeProcess({
      sourceCode: `return svc.processes.run('${child.id}', {})`,
      webhook: { enabled: true, username: 'hook-user', password: 'canary-of-a-webhook' },
    })
    const basic = `Basic ${Buffer.from('hook-user:canary-of-a-webhook').toString('base64')}`
    const named = { authorization: basic, 'svc-initiated-by': 'robot' }
    const answer = await client.webhook<string>('POST', hook.slug, { json: {}, headers: named })
    expect(answer.status, answer.text).toBe(200)
    const started = answer.headers.get('svc-execution-id')!
    const [byHook] = await expectEvents('EXECUTION', started, ['started'])
    expect(byHook).toMatchObject({ user: 'hook-user', initiatedBy: 'robot', ip: expect.any(String) })
    const [byCode] = await expectEvents('EXECUTION', answer.body, ['started'])
    expect(byCode).toMatchObject({ user: 'hook-user', initiatedBy: 'robot' })
    expect(byCode).not.toHaveProperty('ip')
    await Promise.all([awaitEnd(started), awaitEnd(answer.body)])
  })

  test('of a schedule tell who did what, and its runs are started by who made it', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const made = await ann.post<Schedule>(`/processes/${process.id}/schedule`, { cron: '0 0 1 1 *' })
    const schedule = await id(Promise.resolve(made))
    const path = `/schedules/${schedule}`
    await ann.put(`${path}/pause`)
    expect((await ann.put(`${path}/pause`)).status).toBe(400)
    await ann.put(`${path}/resume`)
    await ann.patch(path, { cron: '* * * * * *' })
    const ran = await waitUntil(
      'a run of the schedule',
      async () => (await client.get<Page<Execution>>('/executions', { processId: process.id })).body.data.at(0),
      { timeoutMs: 20_000 },
    )
    await ann.delete(path)
    expectWho(await expectEvents('SCHEDULE', schedule, ['created', 'paused', 'resumed', 'updated', 'deleted']))
    const [started] = await expectEvents('EXECUTION', ran.id, ['started'])
    expect(started).toMatchObject({ user: made.body.createdBy, initiatedBy })
    expect(started).not.toHaveProperty('ip')
  })

  test('of a run of a schedule by hand tell who has asked for it', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const schedule = await id(ann.post<Schedule>(`/processes/${process.id}/schedule`, { cron: '0 0 1 1 *' }))
    const run = await id(ann.post<Execution>(`/schedules/${schedule}/run`))
    expectWho(await expectEvents('EXECUTION', run, ['started']))
    await awaitEnd(run)
  })

  test('of the team are there', async () => {
    const { team } = client.address
    const ours = async () =>
      (await eventsOf({ type: 'TEAM', entityId: team })).filter((event) => event.initiatedBy === initiatedBy)
    const before = (await ours()).length
    const { body } = await client.get<{ name: string }>('/team')
    expect((await ann.patch('/team', { name: body.name })).status).toBe(200)
    const events = await ours()
    expect(events).toHaveLength(before + 1)
    expectWho(events)
    expect(events[0]).toMatchObject({ type: 'TEAM', event: 'updated', entityId: team })
  })

  test('of storage, by users and by runs', async () => {
    const name = `${unique('audit')}/ü file.txt`
    const path = `/storage/objects/${name.split('/').map(encodeURIComponent).join('/')}`
    const uploaded = await ann.call('POST', '/storage/objects', { query: { filename: name }, body: 'content' })
    expect(uploaded.status, uploaded.text).toBe(204)
    expect((await ann.post('/storage/signed-urls', { path: name })).status).toBe(200)
    expect((await ann.delete(path)).status).toBe(204)
    expectWho(await expectEvents('STORAGE', name, ['uploaded', 'signed', 'deleted']))

    const byRun = unique('by-run')
    const source = `await svc.storage.upload('${byRun}', 'x'); await svc.storage.delete('${byRun}')`
    const process = await makeProcess({ sourceCode: source })
    await awaitEnd(await execute(process, {}, ann))
    const events = await expectEvents('STORAGE', byRun, ['uploaded', 'deleted'])
    for (const event of events) expect(event).toMatchObject({ user: process.createdBy, initiatedBy })
  })

  test('of a sandbox: created, updated, killed, without its credentials', async () => {
    const fields = {
      imageId: 'base',
      timeout: 60_000,
      publicHttpPorts: [80],
      publicHttpPortsBasicAuth: 'u:canary-ports',
    }
    const made = await ann.post<Sandbox>('/sandboxes', fields)
    expect(made.status, made.text).toBe(201)
    const path = `/sandboxes/${made.body.id}`
    expect((await ann.post(path, { timeout: 70_000 })).status).toBe(200)
    for (const _ of [1, 2]) expect((await ann.post(`${path}/kill`)).status).toBe(200)
    const events = await expectEvents('SANDBOX', made.body.id, ['created', 'updated', 'killed'])
    expectWho(events)
    for (const secret of ['canary', made.body.grpcApiKey]) expect(JSON.stringify(events)).not.toContain(secret)
  })

  test('are not made by what is refused', async () => {
    const process = await makeProcess({}, ann)
    expect((await ann.patch(`/processes/${process.id}`, { slug: 'Not A Slug' })).status).toBe(400)
    expect((await ann.delete(`/processes/${process.id}/versions/none`)).status).toBe(404)
    expect((await ann.put(`/executions/${process.id}/kill`)).status).toBe(404)
    await publish(process, { tag: 'v1' })
    expect((await ann.post(`/processes/${process.id}/versions`, { tag: 'v1' })).status).toBe(400)
    await expectEvents('PROCESS', process.id, ['created', 'published'])
    expect(await eventsOf({ type: 'EXECUTION', entityId: process.id })).toEqual([])
  })

  test.skipIf(!hasOther)('belong to their team alone', async () => {
    const process = await makeProcess({}, ann)
    expect(await eventsOf({ entityId: process.id }, other)).toEqual([])
    const foreign = await client.call('GET', '/audit-events', { token: other.address.accessToken })
    expectProblem(foreign, 403)
  })
})
