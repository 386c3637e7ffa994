import type { Answer, Client } from '../client/client.ts'
import type { Schedule } from '../client/records.ts'
import type { Client as Connection } from 'pg'
import { waitUntil } from '../system/wait-until.ts'
import type { Violation } from './invariants.ts'

/** Schedules that fire beside the load, with runs that may overlap and with ones that may not. */
const kinds = [
  { periodMs: 1000, allowConcurrentExecutions: true, workMs: 20 },
  { periodMs: 1000, allowConcurrentExecutions: false, workMs: 500 },
  { periodMs: 2000, allowConcurrentExecutions: false, workMs: 300 },
]

/** What is due later than this before a strike may not have come to its firing. */
const promptMs = 1000
const firesAgainMs = 10_000

interface Made {
  id: string
  periodMs: number
}

/** Lets something ask the system's PostgreSQL. */
export type Asking = <T>(ask: (connection: Connection) => Promise<T>) => Promise<T>

/** Schedules of the worker, which are on while the load is. */
export class Schedules {
  readonly #client: Client
  readonly #asking: Asking
  #made: Made[] = []
  #on: Promise<void> | undefined
  #onSince = Infinity

  constructor(client: Client, asking: Asking) {
    this.#client = client
    this.#asking = asking
  }

  /** Makes them, paused. */
  async prepare(processId: string, ledger: string): Promise<void> {
    for (const { periodMs, allowConcurrentExecutions, workMs } of kinds) {
      const cron = `${periodMs === 1000 ? '*' : `*/${periodMs / 1000}`} * * * * *`
      const input = { parameters: { ledger, workMs }, settings: { timeout: 4000 } }
      const made = await this.#client.post<Schedule>(`/processes/${processId}/schedule`, {
        cron,
        allowConcurrentExecutions,
        input,
      })
      if (made.status !== 201) throw new Error(`The schedule was refused: ${made.text}`)
      this.#made.push({ id: made.body.id, periodMs })
    }
    await this.#all('pause')
  }

  start(): void {
    this.#onSince = Infinity
    this.#on = this.#all('resume').then(() => {
      this.#onSince = Date.now()
    })
  }

  /** Pauses them again, once each has fired since `backAt`; gives those that did not in time. */
  async stop(backAt: number): Promise<Violation[]> {
    await this.#on
    const since = Math.max(backAt, this.#onSince)
    const idle = await Promise.all(this.#made.map(async (one) => ((await this.#fires(one, since)) ? [] : [one])))
    await this.#all('pause')
    return idle.flat().map(({ id, periodMs }) => ({
      rule: 'schedules fire again',
      id,
      description: `nothing of each ${periodMs} ms within ${firesAgainMs} ms after the return`,
    }))
  }

  /** Waits until nothing of them is open, and compares times, firings and runs since `fromMs`; both in ms since 1970. */
  async examine(fromMs: number, struckAt: number): Promise<Violation[]> {
    const atRest = await waitUntil('firings to be decided', async () => (await this.#open()).length === 0, {
      timeoutMs: 15_000,
      everyMs: 100,
    }).catch(() => false)
    const open = atRest ? [] : await this.#open()
    const found = open.map((id) => ({ rule: 'at rest no firing is open', id, description: 'a firing is not decided' }))
    return [...found, ...(await this.#missing(struckAt)), ...(await faultsOfFirings(this.#asking, fromMs))]
  }

  /** Whether a time from a period before `since` on, which was not over then, has its run, or waits for the one before. */
  #fires({ id, periodMs }: Made, since: number): Promise<boolean> {
    const fired = async () => {
      const text =
        'SELECT FROM scheduler.firings WHERE schedule_id = $1 AND nominal_at > $2 AND state IN (2, 3) LIMIT 1'
      // The database may be on its way back; where it does not come, nothing has fired in time.
      const found = await this.#rows(text, [id, new Date(since - periodMs)]).catch(() => undefined)
      return found?.rowCount === 1
    }
    return waitUntil('a firing', fired, { timeoutMs: firesAgainMs, everyMs: 50 }).catch(() => false)
  }

  async #open(): Promise<string[]> {
    const { rows } = await this.#rows<{ id: string }>(
      'SELECT schedule_id AS id FROM scheduler.firings WHERE state < 3',
      [],
    )
    return rows.map(({ id }) => id)
  }

  /** Times until shortly before the strike that came to no firing, though everything was there. */
  async #missing(struckAt: number): Promise<Violation[]> {
    const found: Violation[] = []
    for (const { id, periodMs } of this.#made) {
      const first = Math.ceil((this.#onSince + 1) / periodMs) * periodMs
      const { rows } = await this.#rows<{ at: Date }>(
        'SELECT nominal_at AS at FROM scheduler.firings WHERE schedule_id = $1 AND nominal_at >= $2',
        [id, new Date(Math.min(first, struckAt))],
      )
      const known = new Set(rows.map(({ at }) => at.getTime()))
      for (let at = first; at < struckAt - promptMs; at += periodMs)
        if (!known.has(at))
          found.push({
            rule: 'no time of a schedule is missed',
            id,
            description: `${new Date(at).toISOString()} has no firing`,
          })
    }
    return found
  }

  #rows<T extends object = object>(text: string, values: unknown[]) {
    return this.#asking((connection) => connection.query<T>(text, values))
  }

  /** Until each says that it is done, or was before. */
  async #all(what: 'pause' | 'resume'): Promise<void> {
    await Promise.all(
      this.#made.map(({ id }) =>
        waitUntil(`a schedule to ${what}`, () => this.#done(id, what), { timeoutMs: 60_000, everyMs: 100 }),
      ),
    )
  }

  async #done(id: string, what: 'pause' | 'resume'): Promise<boolean> {
    const signal = AbortSignal.timeout(5000)
    const answer = await this.#client.call('PUT', `/schedules/${id}/${what}`, { signal }).catch(noAnswer)
    if (answer !== undefined && ![200, 400, 503, 504].includes(answer.status))
      throw new Error(`A schedule does not ${what}: ${answer.status} ${answer.text}`)
    return answer?.status === 200 || answer?.status === 400
  }
}

/** A kill explains it. */
function noAnswer(error: unknown): Answer | undefined {
  if (error instanceof TypeError || error instanceof DOMException) return undefined
  throw error
}

const startedAt = `to_timestamp(('x' || substr(replace(e.id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0)`

/** What breaks a promise about firings, each as a query; $1 is the instant from which it looks. */
const rules: readonly { rule: string; sql: string }[] = [
  {
    rule: 'I8 one start per time of a schedule',
    sql: `SELECT e.id, 'it is the run of no time of its schedule' AS description FROM execution.executions e
      LEFT JOIN execution.start_keys k ON k.execution_id = e.id AND k.scope = 'schedule ' || e.schedule_id
      WHERE e.schedule_id IS NOT NULL AND ${startedAt} >= $1 AND k.key IS NULL`,
  },
  {
    rule: 'I8 what is noted of a time of a schedule is its run',
    sql: `SELECT coalesce(f.schedule_id, k.schedule_id) AS id,
        format('%s: noted %s (%s), started %s', coalesce(f.nominal_at, k.nominal_at), f.execution_id, f.explanation, k.execution_id) AS description
      FROM (SELECT * FROM scheduler.firings WHERE nominal_at >= $1) f
      FULL JOIN (SELECT substr(scope, 10)::uuid AS schedule_id, to_timestamp(key::bigint / 1000.0) AS nominal_at, execution_id
        FROM execution.start_keys WHERE scope LIKE 'schedule %' AND key::bigint >= extract(epoch FROM $1::timestamptz) * 1000) k
        ON k.schedule_id = f.schedule_id AND k.nominal_at = f.nominal_at
      WHERE f.execution_id IS DISTINCT FROM k.execution_id`,
  },
  {
    rule: 'what is missed by less than its period runs',
    sql: `SELECT f.schedule_id AS id, format('%s was given up at %s', f.nominal_at, f.decided_at) AS description
      FROM scheduler.firings f JOIN scheduler.schedules s ON s.id = f.schedule_id
      WHERE f.nominal_at >= $1 AND f.explanation LIKE '%missed%'
        AND f.decided_at < f.nominal_at + CASE WHEN s.cron LIKE '*/2 %' THEN interval '2 s' ELSE interval '1 s' END`,
  },
  {
    rule: 'runs of a schedule that may not overlap do not',
    sql: `SELECT id, format('started at %s, the one before ended at %s', started_at, ended_at) AS description FROM (
        SELECT e.id, ${startedAt} AS started_at, lag(e.updated_at) OVER (PARTITION BY e.schedule_id ORDER BY e.id) AS ended_at
          FROM execution.executions e JOIN scheduler.schedules s ON s.id = e.schedule_id
         WHERE NOT s.allow_concurrent AND ${startedAt} >= $1) runs
      WHERE started_at < date_trunc('milliseconds', ended_at)`,
  },
]

async function faultsOfFirings(asking: Asking, fromMs: number): Promise<Violation[]> {
  return asking(async (client) => {
    const found: Violation[] = []
    for (const { rule, sql } of rules) {
      const { rows } = await client.query<{ id: string; description: string }>(sql, [new Date(fromMs)])
      found.push(...rows.map(({ id, description }) => ({ rule, id, description })))
    }
    return found
  })
}
