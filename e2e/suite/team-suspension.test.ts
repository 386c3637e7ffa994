import { beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import type { Limits, Schedule } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { expectEvents } from './audit-events.ts'
import { admin as adminOf, ownTeam } from './own-team.ts'
import { expectProblem } from './problem.ts'
import { awaitEnd, awaitStatus, execute, makeProcess } from './runs.ts'
import { everySecond } from './scheduling.ts'
import { shared } from './shared-system.ts'

/** Each test goes on from the one before it. */
describe.skipIf(!shared.owned)('a team that its operator suspends', { concurrent: false }, () => {
  let member: Client
  let neighbour: Client
  const admin = async (...args: string[]) => {
    const { code, stdout, stderr } = await adminOf(args)
    expect(code, stderr).toBe(0)
    return stdout.trim()
  }

  beforeAll(async () => {
    ;[member, neighbour] = [(await ownTeam('paused')).client, (await ownTeam('neighbour')).client]
    await admin('teams', 'limit', 'paused', 'running', '2')
    const allowed = async () =>
      (await member.get<Limits>('/limits')).body.limits.find(({ name }) => name === 'running')?.allowed
    await waitUntil('its limit to hold', async () => (await allowed()) === 2, { timeoutMs: 30_000, everyMs: 200 })
  })

  let running: string
  let queued: string
  let schedule: Schedule
  const patience = { timeoutMs: 60_000 }
  const looping = `for (;;) {
    if ((await svc.storage.list().catch(() => [])).some(({ name }) => name === 'go')) return 1
    await new Promise((done) => setTimeout(done, 50))
  }`
  const sync = (by: Client, id: string) => by.post(`/processes/${id}/execute-sync`)

  test('starts nothing any more, by no way, is told why, and reads on; its neighbour feels nothing', async () => {
    const held = await makeProcess({ sourceCode: looping }, member)
    const quick = await makeProcess({ sourceCode: 'return 1', webhook: { enabled: true } }, member)
    const theirs = await makeProcess({ sourceCode: 'return 1' }, neighbour)
    const made = await member.post<Schedule>(`/processes/${quick.id}/schedule`, {
      cron: everySecond,
      allowConcurrentExecutions: true,
    })
    expect(made.status, made.text).toBe(201)
    schedule = made.body
    running = await execute(held, {}, member)
    await awaitStatus(running, ({ status }) => status === 'RUNNING', 30_000, member)
    const other = await execute(held, {}, member)
    await awaitStatus(other, ({ status }) => status === 'RUNNING', 30_000, member)
    queued = await execute(quick, {}, member)
    const sandbox = await member.post<{ id: string }>('/sandboxes', { imageId: 'base' })
    expect(sandbox.status, sandbox.text).toBe(201)

    expect(await admin('teams', 'suspend', 'paused', '--reason', 'the invoice is open')).toContain('is suspended')
    const refused = await waitUntil(
      'a refusal',
      async () => {
        const answer = await member.post(`/processes/${quick.id}/execute`)
        return answer.status === 403 && answer
      },
      patience,
    )
    expectProblem(refused, 403, { code: 'team_suspended' })
    expect(refused.text).toContain('the invoice is open')
    // Each service hears of it by itself.
    const files = await waitUntil(
      'a refusal of the sandbox service',
      async () => {
        const answer = await member.get(`/sandboxes/${sandbox.body.id}/files/tmp`)
        return answer.status === 403 && answer
      },
      patience,
    )
    expectProblem(files, 403, { code: 'team_suspended' })
    for (const answer of [
      await member.post(`/processes/${quick.id}/execute`),
      await sync(member, quick.id),
      await member.post(`/executions/${queued}/rerun`),
      await member.post('/processes/draft/execute', {
        draft: { sourceCode: 'return 1', programmingLanguage: 'JAVASCRIPT' },
      }),
      await member.post('/sandboxes', { imageId: 'base' }),
      await member.post(`/schedules/${schedule.id}/run`),
    ])
      expectProblem(answer, 403, { code: 'team_suspended' })
    const hook = await fetch(`${shared.host}/api/paused/webhooks/${quick.slug}`, { method: 'POST' })
    expect([hook.status, hook.headers.get('retry-after')]).toEqual([503, '60'])
    expect(await hook.text()).not.toContain('invoice')

    expect((await member.get(`/executions/${running}`)).status).toBe(200)
    expect((await member.get('/processes')).status).toBe(200)
    expect((await sync(neighbour, theirs.id)).status).toBe(203)
    expect(JSON.parse(await admin('--json', 'teams', 'list'))).toContainEqual(
      expect.objectContaining({
        slug: 'paused',
        suspension: expect.objectContaining({ reason: 'the invoice is open' }),
      }),
    )
    const [event] = (await expectEvents('TEAM', 'paused', ['created', 'updated', 'suspended'], member)).slice(-1)
    expect(event).toMatchObject({ user: 'operator' })
  })

  test('its schedules fire nothing, and say why', async () => {
    const skipped = await waitUntil(
      'a firing that is skipped',
      async () => {
        const { body } = await member.get<{ data: { state: string; reason?: string }[] }>(
          `/schedules/${schedule.id}/firings`,
        )
        return body.data.find(({ state }) => state === 'skipped')
      },
      patience,
    )
    expect(skipped.reason).toContain('the invoice is open')
  })

  test('what runs goes on to its end, and what waits stays and is told so', async () => {
    const waiting = await member.get(`/executions/${queued}/waiting`)
    expect(waiting.body).toMatchObject({ waiting: true, code: 'paused' })
    expect(waiting.text).toContain('the invoice is open')
    const headers = { 'content-type': 'text/plain' }
    const put = await member.call('POST', '/storage/objects', { query: { filename: 'go' }, body: 'go', headers })
    expect(put.status, put.text).toBe(204)
    expect((await awaitEnd(running, 30_000, member)).status).toBe('FINISHED')
    expect((await member.get<{ status: string }>(`/executions/${queued}`)).body.status).toBe('QUEUED')
  })

  test('begins what waits once it is resumed', async () => {
    await admin('teams', 'resume', 'paused')
    expect((await awaitEnd(queued, 30_000, member)).status).toBe('FINISHED')
    await expectEvents('TEAM', 'paused', ['created', 'updated', 'suspended', 'resumed'], member)
  })

  test('has in the report of the month what its usage says, beside its neighbour', async () => {
    const month = new Date().toISOString().slice(0, 7)
    const used = async () => {
      const { body } = await member.get<{ items: { runs: number }[] }>('/usage')
      return body.items.reduce((sum, item) => sum + item.runs, 0)
    }
    expect((await member.put(`/schedules/${schedule.id}/pause`)).status).toBeLessThan(300)
    // What it has started ends, so the report is one between two looks that say the same.
    const between = async () => {
      const before = await used()
      const text = await admin('usage', '--month', month, '--format', 'csv')
      const [names = [], ...lines] = text.split('\n').map((line) => line.split(','))
      const rows = lines
        .map((line) => Object.fromEntries(names.map((name, at) => [name, line[at]])))
        .filter(({ team }) => ['paused', 'neighbour'].includes(team ?? ''))
      return before === (await used()) && rows[1]?.['runs'] === rows[1]?.['finished'] && { rows, runs: before }
    }
    const { rows, runs } = await waitUntil('a report in a quiet moment', between, { timeoutMs: 30_000 })
    expect(rows.map(({ team }) => team)).toEqual(['neighbour', 'paused'])
    expect(runs).toBeGreaterThan(2)
    expect(rows[1]).toMatchObject({ runs: String(runs), finished: String(runs), storedBytes: '2' })
    expect(rows[0]).toMatchObject({ runs: '1', finished: '1', killed: '0', storedBytes: '0' })
  })

  test('ends what runs where the operator says so, runs and sandboxes', async () => {
    const sleeper = await makeProcess({ sourceCode: 'await new Promise(() => setInterval(() => {}, 1000))' }, member)
    const id = await execute(sleeper, {}, member)
    await awaitStatus(id, ({ status }) => status === 'RUNNING', 30_000, member)
    expect(await admin('teams', 'suspend', 'paused', '--kill')).toContain('1 run')
    expect((await awaitEnd(id, 5000, member)).status).toBe('KILLED')
    const { body } = await member.get<{ data: { status: string }[] }>('/sandboxes')
    expect(body.data.map(({ status }) => status)).toEqual(['KILLED'])
  })
})
