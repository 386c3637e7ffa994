import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import { withRows } from '../system/database.ts'
import { startElasticSystem, type ElasticSystem, type ExtraReplica } from '../system/elastic-system.ts'
import { shapeFromEnvironment } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { clientOf } from './client-of.ts'
import { makeProcess } from './runs.ts'
import { shared } from './shared-system.ts'

const everyMs = 80
/** Longer than a name is believed. */
const namesKnownMs = 6500
const measuredMs = 6000

/** Calls one after the other has begun, at a constant rate: every third run is started and not waited for. */
class ConstantLoad {
  readonly failures: string[] = []
  readonly ids: string[] = []
  readonly #client: Client
  readonly #open = new Set<Promise<void>>()
  readonly #timer: NodeJS.Timeout
  #count = 0

  constructor(client: Client) {
    this.#client = client
    this.#timer = setInterval(() => {
      const call = this.#call((this.#count += 1)).finally(() => this.#open.delete(call))
      this.#open.add(call)
    }, everyMs)
  }

  async #call(number: number): Promise<void> {
    const query = number % 3 === 0 ? '?async=true' : ''
    try {
      const answer = await fetch(`${this.#client.webhooks}/load${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ number }),
      })
      const text = await answer.text()
      if (answer.status >= 300) this.failures.push(`${new Date().toISOString()} ${answer.status} ${text}`)
      else this.ids.push(answer.headers.get('svc-execution-id') ?? `none for ${number}`)
      if (query === '' && answer.status < 300 && text !== `${number}`) this.failures.push(`${number}: ${text}`)
    } catch (error) {
      this.failures.push(String((error as Error).cause ?? error))
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#open)
  }
}

describe.runIf(shared.owned && shapeFromEnvironment() === 'services')('replicas of execution', () => {
  let elastic: ElasticSystem
  let client: Client

  beforeAll(async () => {
    elastic = await startElasticSystem('elastic', { RUNNER_SLOTS: '24' })
    client = await clientOf(elastic.system)
  })
  afterAll(() => elastic.stop())

  /** How many of the runs accepted since then each replica has accepted. */
  const acceptedBy = (sinceId: string) =>
    withRows(elastic.system.dataDir, async (rows) => {
      const text =
        'SELECT replica_id, count(*)::integer AS count FROM execution.executions WHERE id > $1 GROUP BY replica_id'
      const found = await rows.query<{ count: number }>(text, [sinceId])
      return found.rows.map(({ count }) => count)
    })

  test('go from 2 to 6 and back under load: no call fails, each run ends once, and all replicas share the calls', async () => {
    await makeProcess(
      { name: 'load', slug: 'load', sourceCode: 'return svc.context.parameters.number', webhook: { enabled: true } },
      client,
    )
    await elastic.add()
    const load = new ConstantLoad(client)
    await waitUntil('the first runs', () => load.ids.length > 10, { timeoutMs: 60_000 })
    const more: ExtraReplica[] = []
    for (let count = 0; count < 4; count += 1) more.push(await elastic.add())
    await delay(namesKnownMs)
    const since = load.ids.at(-1)!
    await delay(measuredMs)
    const shares = await acceptedBy(since)
    for (const replica of more) expect(await elastic.end(replica)).toBe(0)
    await delay(1000)
    await load.stop()

    expect(load.failures).toEqual([])
    expect(shares).toHaveLength(6)
    const mean = shares.reduce((sum, count) => sum + count, 0) / 6
    for (const count of shares) expect(Math.abs(count - mean) / mean).toBeLessThan(0.2)
    const ended = () =>
      withRows(elastic.system.dataDir, async (rows) => {
        const text = `SELECT count(*)::integer AS all, count(*) FILTER (WHERE status = 5)::integer AS finished,
                             (SELECT count(*)::integer FROM execution.timeline_events WHERE status = 4) AS starts
                        FROM execution.executions`
        return (await rows.query<{ all: number; finished: number; starts: number }>(text)).rows[0]!
      })
    await waitUntil('the last runs', async () => (await ended()).finished >= load.ids.length, { timeoutMs: 60_000 })
    const count = new Set(load.ids).size
    expect(await ended()).toEqual({ all: count, finished: count, starts: count })
  }, 180_000)
})
