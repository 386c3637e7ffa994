import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import { withRows } from '../system/database.ts'
import { startElasticSystem, type ElasticSystem, type ExtraReplica } from '../system/elastic-system.ts'
import { runAdmin, shapeFromEnvironment } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { clientOf } from './client-of.ts'
import { ConstantLoad } from './constant-load.ts'
import { makeProcess } from './runs.ts'
import { shared } from './shared-system.ts'

const everyMs = 80
/** Longer than a name is believed. */
const namesKnownMs = 6500
const measuredMs = 6000

describe.runIf(shared.owned && shapeFromEnvironment() === 'services')('replicas of execution', () => {
  let elastic: ElasticSystem
  let clients: Client[]
  const admin = async (...args: string[]) => {
    const { code, stdout, stderr } = await runAdmin(args, elastic.system.env)
    expect(code, stderr).toBe(0)
    return stdout.trim()
  }

  beforeAll(async () => {
    elastic = await startElasticSystem('elastic', { RUNNER_SLOTS: '24' })
    const { host } = elastic.system
    clients = [await clientOf(elastic.system)]
    for (const team of ['second', 'third', 'fourth', 'fifth', 'sixth']) {
      await admin('teams', 'create', team)
      clients.push(await clientOf({ host, team, apiToken: await admin('tokens', 'create', team) }))
    }
  }, 120_000)
  afterAll(() => elastic.stop())

  /** Which replicas have accepted the runs of each team since then. */
  const acceptedBy = (sinceId: string) =>
    withRows(elastic.system.dataDir, async (rows) => {
      const text = `SELECT team, array_agg(DISTINCT replica_id::text) AS replicas
                      FROM execution.executions WHERE id > $1 GROUP BY team`
      return (await rows.query<{ team: string; replicas: string[] }>(text, [sinceId])).rows
    })

  test('go from 2 to 6 and back under load: no call fails, each run ends once, and each team has a replica', async () => {
    const load = { name: 'load', slug: 'load', sourceCode: 'return svc.context.parameters.number' }
    for (const client of clients) await makeProcess({ ...load, webhook: { enabled: true } }, client)
    await elastic.add()
    // Of teams in turn: every third run is started and not waited for.
    const calls = new ConstantLoad({
      everyMs,
      call: (number) => ({
        url: `${clients[number % clients.length]!.webhooks}/load`,
        isAwaited: number % 3 !== 0,
      }),
    })
    await waitUntil('the first runs', () => calls.ids.length > 10, { timeoutMs: 60_000 })
    const more: ExtraReplica[] = []
    for (let count = 0; count < 4; count += 1) more.push(await elastic.add())
    await delay(namesKnownMs)
    const since = calls.ids.at(-1)!
    await delay(measuredMs)
    const accepted = await acceptedBy(since)
    for (const replica of more) expect(await elastic.end(replica)).toBe(0)
    await delay(1000)
    await calls.stop()

    expect(calls.failures).toEqual([])
    expect(accepted).toHaveLength(clients.length)
    // One that a slow machine has kept silent for 3 s has its calls go elsewhere.
    const faithful = accepted.filter(({ replicas }) => replicas.length === 1)
    expect(faithful.length).toBeGreaterThan(clients.length / 2)
    expect(new Set(accepted.flatMap(({ replicas }) => replicas)).size).toBeGreaterThan(1)
    const ended = () =>
      withRows(elastic.system.dataDir, async (rows) => {
        const text = `SELECT count(*)::integer AS all, count(*) FILTER (WHERE status = 5)::integer AS finished,
                             (SELECT count(*)::integer FROM execution.timeline_events WHERE status = 4) AS starts
                        FROM execution.executions`
        return (await rows.query<{ all: number; finished: number; starts: number }>(text)).rows[0]!
      })
    await waitUntil('the last runs', async () => (await ended()).finished >= calls.ids.length, { timeoutMs: 60_000 })
    const count = new Set(calls.ids).size
    expect(await ended()).toEqual({ all: count, finished: count, starts: count })
  }, 180_000)
})
