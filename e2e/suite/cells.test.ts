import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { listening, type Listening } from '@automation/testing/listening'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import type { LogEntry, Page } from '../client/records.ts'
import { startCellSystem, type CellSystem } from '../system/cell-system.ts'
import { killedAdmin, runAdmin, shapeFromEnvironment } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { clientOf } from './client-of.ts'
import { ConstantLoad } from './constant-load.ts'
import { execute, executionOf, makeProcess } from './runs.ts'
import { shared } from './shared-system.ts'

const everyMs = 60
const soon = { timeoutMs: 20_000 }

describe.runIf(shared.owned && shapeFromEnvironment() === 'services')('cells', { concurrent: false }, () => {
  let cells: CellSystem
  let client: Client
  let receiver: Listening
  const called: string[] = []
  const admin = async (...args: string[]) => {
    const { code, stdout, stderr } = await runAdmin(args, cells.system.env)
    expect(code, stderr).toBe(0)
    return stdout.trim()
  }
  const clientOfTeam = async (team: string) =>
    clientOf({ host: cells.system.host, team, apiToken: await admin('tokens', 'create', team) })
  const nothing = { all: 0, finished: 0, broken: 0, handlers: 0, ofRuns: 0, counted: 0, starts: 0 }
  const countIn = (cell: 'first' | 'blue', team: string) =>
    cells.withRows(cell, async (rows) => {
      const text = `SELECT count(*)::integer AS all, count(*) FILTER (WHERE status = 5)::integer AS finished,
                           count(*) FILTER (WHERE status = 8)::integer AS broken, count(*) FILTER (WHERE process_slug = 'mends')::integer AS handlers,
                           count(*) FILTER (WHERE parent_id IS NOT NULL)::integer AS "ofRuns",
                           (SELECT coalesce(sum(runs), 0)::integer FROM execution.run_counts WHERE status = 4 AND grain = 2 AND team = $1) AS counted,
                           (SELECT count(*)::integer FROM execution.timeline_events WHERE status = 4 AND team = $1) AS starts
                      FROM execution.executions WHERE team = $1`
      return (await rows.query<typeof nothing>(text, [team])).rows[0]!
    })

  /** An answer that tells of an execution, with how that ended. */
  async function withEnd(failure: string): Promise<string> {
    const id = /"executionId":"([\w-]+)"/.exec(failure)?.[1]
    return id === undefined ? failure : `${failure} ${JSON.stringify((await executionOf(id, client)).timeline)}`
  }

  beforeAll(async () => {
    cells = await startCellSystem('shop', { RUNNER_SLOTS: '24' })
    client = await clientOf(cells.system)
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        called.push(String(request.url).slice(1))
        response.end()
      })
    })
    receiver = await listening(server)
  }, 180_000)
  afterAll(async () => {
    await receiver.close()
    await cells.stop()
  })

  test('each has the executions of its teams', async () => {
    await admin('teams', 'create', 'west', '--cell', 'blue')
    const west = await clientOfTeam('west')
    const process = await makeProcess({ sourceCode: 'return 1' }, west)
    const id = await execute(process, {}, west)
    await waitUntil('its end', async () => (await executionOf(id, west)).status === 'FINISHED', soon)
    expect(await countIn('blue', 'west')).toMatchObject({ all: 1, finished: 1, starts: 1 })
    expect(await countIn('first', 'west')).toEqual(nothing)
    const list = JSON.parse(await admin('--json', 'teams', 'list')) as { slug: string; cell: string }[]
    expect(list.map(({ slug, cell }) => [slug, cell])).toEqual([
      ['shop', 'first'],
      ['west', 'blue'],
    ])
  })

  test('operators see and drain the runners of the others while one cell is away', async () => {
    const { env } = cells.system
    const addresses = `${env['SERVICE_ADDRESSES']},execution@away=127.0.0.1:9`
    const run = (...args: string[]) => runAdmin(args, { ...env, SERVICE_ADDRESSES: addresses })
    const { code, stdout, stderr } = await run('--json', 'runners', 'list')
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^The cell away does not answer: /)])
    expect(JSON.parse(stdout)).toHaveLength(2)
    const drained = await run('runners', 'drain', '01a2275e-d9e2-74f1-9fb0-dc409397dd82')
    expect([drained.code, drained.stderr]).toEqual([1, expect.stringMatching(/The cell away does not answer: /)])
  })

  test('a team changes them while it works: no run is lost or doubled, and what it had is there', async () => {
    const webhook = { enabled: true }
    const source = 'console.log("a line"); return svc.context.parameters.number'
    const load = await makeProcess({ name: 'load', slug: 'load', sourceCode: source, webhook }, client)
    const outer = `await new Promise((done) => setTimeout(done, 300)); return svc.processes.runSync('load', { parameters: svc.context.parameters })`
    await makeProcess({ name: 'outer', slug: 'outer', sourceCode: outer, webhook }, client)
    const breaks = await makeProcess({ sourceCode: 'throw new Error("broken")' }, client)
    await makeProcess({ name: 'mends', slug: 'mends', sourceCode: 'return 1' }, client)
    await client.patch('/team', { errorHandlerConfig: { processSlug: 'mends' } })
    const old = await execute(load, { parameters: { number: -1 } }, client)
    await waitUntil('its end', async () => (await executionOf(old, client)).status === 'FINISHED', soon)
    const before = await executionOf(old, client)
    const key = { 'Idempotency-Key': 'order-4711' }
    const keyed = await client.post<{ executionId: string }>(`/processes/${load.id}/execute`, {}, { headers: key })

    // Of three calls one is not waited for, and one starts another run and waits for it.
    const calls = new ConstantLoad({
      everyMs,
      call: (number) => ({
        url: `${client.webhooks}/${number % 3 === 2 ? 'outer' : 'load'}`,
        isAwaited: number % 3 !== 0,
      }),
      isRefusal: (answer) => answer.status === 503 && answer.headers.has('retry-after'),
    })
    await waitUntil('the first runs', () => calls.ids.length > 20, { timeoutMs: 60_000 })
    const callbacks: string[] = []
    const moving = admin('teams', 'move', 'shop', '--to', 'blue')
    for (let n = 0; n < 40; n += 1) {
      const callbackUrl = `${receiver.url}/${n}`
      const process = n % 2 === 0 ? load : breaks
      const started = await client.post(`/processes/${process.id}/execute`, { settings: { callbackUrl } })
      if (started.status === 202) callbacks.push(String(n))
      else calls.refusals.push(started.text)
      await delay(100)
    }
    expect(await moving).toBe('The executions of shop are in the cell blue.')
    await delay(1500)
    await calls.stop()

    expect(await Promise.all(calls.failures.map(withEnd))).toEqual([])
    const isOver = async () => {
      const { all, finished, broken, handlers, counted } = await countIn('blue', 'shop')
      return all === finished + broken && handlers >= broken && counted >= all && called.length >= callbacks.length
    }
    await waitUntil('the last runs', isOver, { timeoutMs: 60_000 })
    const { all, broken, handlers, starts, counted, ofRuns } = await countIn('blue', 'shop')
    expect(all - ofRuns - handlers).toBe(new Set(calls.ids).size + callbacks.length + 2)
    expect([starts, counted]).toEqual([all, all])
    expect(handlers).toBe(broken)
    expect(broken).toBeGreaterThan(10)
    expect(await countIn('first', 'shop')).toEqual(nothing)
    expect(called.toSorted()).toEqual(callbacks.toSorted())

    expect(await executionOf(old, client)).toEqual(before)
    const lines = await client.get<Page<LogEntry>>(`/executions/${old}/logs`)
    expect(lines.body.data.map(({ message }) => message)).toEqual(['a line'])
    const again = await client.post<{ executionId: string }>(`/processes/${load.id}/execute`, {}, { headers: key })
    expect(again.body.executionId).toBe(keyed.body.executionId)
  }, 180_000)

  test('a team stays where its runs do not end in time, and a move that was cut off goes on', async () => {
    const endless = await makeProcess({ sourceCode: 'await new Promise((done) => setTimeout(done, 60_000))' }, client)
    const id = await execute(endless, {}, client)
    await waitUntil('it runs', async () => (await executionOf(id, client)).status === 'RUNNING', soon)
    const refused = await runAdmin(['teams', 'move', 'shop', '--to', 'first', '--wait', '2'], cells.system.env)
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('1 runs that do not end')
    expect((await executionOf(id, client)).status).toBe('RUNNING')
    expect((await client.put(`/executions/${id}/kill`)).status).toBe(202)
    const { all } = await countIn('blue', 'shop')
    await killedAdmin(['teams', 'move', 'shop', '--to', 'first'], cells.system.env, 'Nothing runs')
    await admin('teams', 'move', 'shop', '--to', 'first')
    expect(await countIn('first', 'shop')).toMatchObject({ all })
    expect(await countIn('blue', 'shop')).toEqual(nothing)
    const last = await execute(endless, {}, client)
    await waitUntil('it runs', async () => (await executionOf(last, client)).status === 'RUNNING', soon)
    expect(await countIn('first', 'shop')).toMatchObject({ all: all + 1 })
  }, 120_000)
})
