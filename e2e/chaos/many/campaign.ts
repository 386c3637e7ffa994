import { setTimeout as delay } from 'node:timers/promises'
import { Random } from '@automation/testing/random'
import { Client, accessTokenOf } from '../../client/client.ts'
import type { Execution, Page } from '../../client/records.ts'
import { waitUntil } from '../../system/wait-until.ts'
import { Book } from '../book.ts'
import { examine, executionsBetween, leftBehind } from '../examination.ts'
import { faultsOfFollowUps, handlerCode, handlerSlug, openReceiver, type CallbackReceiver } from '../follow-ups.ts'
import type { Violation } from '../invariants.ts'
import { openLedger, type Ledger } from '../ledger.ts'
import { Load } from '../load.ts'
import { faultsOfCutRemovals, faultsOfRemovals } from '../removals.ts'
import { faultsAt } from '../rows.ts'
import { Schedules } from '../schedules.ts'
import { Availability } from './availability.ts'
import { leaseMs, type ManySystem } from './many-system.ts'
import { Objects } from './objects.ts'
import { strikeKinds, type Awaited } from './strike-kinds.ts'

/** One strike, and what callers had of it. */
export interface Hit {
  kind: string
  what: string
  /** Instants in milliseconds since the Unix epoch. */
  beganAt: number
  wholeAt: number
  /** The longest time without each that callers wait for, in milliseconds. */
  gapsMs: Record<Awaited, number>
  /** How calls were answered meanwhile, by status. */
  answers: Record<string, number>
}

/** What is found when all is at rest. */
export interface Findings {
  executions: number
  ends: Record<string, number>
  /** Of runs that ended as ERROR: how often for which reason. */
  reasons: Record<string, number>
  violations: Violation[]
}

const callersEach = 5
const comesWithinMs = 60_000
const restWithinMs = 60_000
const sweptMs = 25_000
const hourMs = 3_600_000

/** A system of many replicas under load that does not stop for strikes, and is examined once, at the end. */
export class ManyCampaign {
  readonly #system: ManySystem
  readonly #random: Random
  readonly #book = new Book()
  readonly #came: Record<Awaited, Availability> = {
    calls: new Availability('an accepted call'),
    callbacks: new Availability('a callback'),
    objects: new Availability('an object that is stored'),
  }
  readonly #hits: Hit[] = []
  readonly #startedAt = Date.now()
  #loads: Load[] = []
  #client!: Client
  #ledger!: Ledger
  #receiver!: CallbackReceiver
  #schedules!: Schedules
  #objects!: Objects

  constructor(system: ManySystem, random: Random) {
    this.#system = system
    this.#random = random
  }

  get hits(): readonly Hit[] {
    return this.#hits
  }

  async begin(): Promise<void> {
    const { hosts, team, apiToken } = this.#system
    ;[this.#ledger, this.#receiver] = await Promise.all([openLedger(), openReceiver(() => this.#came.callbacks.came())])
    const accessToken = await accessTokenOf(hosts[0]!, team, apiToken)
    const clients = hosts.map((host) => new Client({ host, team, accessToken }))
    this.#client = clients[0]!
    this.#loads = clients.map(
      (client) =>
        new Load({
          client,
          ledgerUrl: this.#ledger.url,
          book: this.#book,
          random: this.#ownRandom(),
          callbackUrl: this.#receiver.url,
          accepted: () => this.#came.calls.came(),
        }),
    )
    const [first, ...others] = this.#loads
    const worker = await first!.prepare()
    for (const load of others) load.goOnWith(worker)
    const handler = await this.#client.post('/processes', {
      name: handlerSlug,
      slug: handlerSlug,
      sourceCode: handlerCode,
    })
    const named = await this.#client.patch('/team', { errorHandlerConfig: { processSlug: handlerSlug, tag: null } })
    if (handler.status !== 201 || named.status !== 200)
      throw new Error(`The error handler was refused: ${handler.text} ${named.text}`)
    this.#schedules = new Schedules(this.#client, (ask) => this.#system.database.primary.with(ask))
    await this.#schedules.prepare(worker, this.#ledger.url)
    this.#schedules.start()
    this.#objects = new Objects({ clients, random: this.#ownRandom(), stored: () => this.#came.objects.came() })
    this.#objects.start()
    for (const load of this.#loads) load.start(callersEach)
    await Promise.all(Object.values(this.#came).map((each) => each.next(comesWithinMs)))
  }

  /** Of its own: what is drawn there depends on answers, and strikes are to be the same for a seed. */
  #ownRandom(): Random {
    return new Random(this.#random.between(0, 2 ** 31 - 1))
  }

  /** Strikes, lets it last, mends it, and waits until all replicas are ready and what the strike may have held up comes again. */
  async strike(kind: string): Promise<Hit> {
    const { hit, lastsMs, boundsMs } = strikeKinds[kind]!
    const beganAt = Date.now()
    const fromMs = performance.now()
    const answersBefore = this.answers
    const { what, mend } = await hit(this.#system, this.#random)
    await delay(this.#random.between(...lastsMs))
    await mend()
    await this.#system.whole()
    await Promise.all((Object.keys(boundsMs) as Awaited[]).map((name) => this.#came[name].next(comesWithinMs)))
    const gapOf = (name: Awaited) => this.#came[name].longestGapMs(fromMs, performance.now())
    const gapsMs = { calls: gapOf('calls'), callbacks: gapOf('callbacks'), objects: gapOf('objects') }
    const answers = difference(this.answers, answersBefore)
    const struck = { kind, what, beganAt, wholeAt: Date.now(), gapsMs, answers }
    this.#hits.push(struck)
    await delay(this.#random.between(200, 800))
    return struck
  }

  /** How the calls of the load were answered, by status. */
  get answers(): Record<string, number> {
    const sums: Record<string, number> = {}
    for (const { answers } of this.#loads)
      for (const [how, count] of Object.entries(answers)) sums[how] = (sums[how] ?? 0) + count
    return sums
  }

  /** Ends the load, waits for rest, and compares all that was promised with all that is there. */
  async examine(): Promise<Findings> {
    const client = this.#client
    const violations = await this.#schedules.stop(Date.now())
    await Promise.all([...this.#loads, this.#objects].map((load) => load.stop()))
    await this.#rest()
    // An id has the wall clock of the replica that made it, which may have been an hour wrong.
    const fromMs = this.#startedAt - 2 * hourMs
    const followUps = await this.#followUps(fromMs)
    const listed = await executionsBetween(client, fromMs)
    const at = { client, ledger: this.#ledger, book: this.#book }
    violations.push(...(await this.#objects.examine()), ...followUps)
    violations.push(
      ...(await examine(at, listed, fromMs)),
      ...(await leftBehind(at, listed)),
      ...this.#endedLate(listed),
    )
    violations.push(...(await this.#ofSchedules(fromMs)))
    violations.push(...(await faultsOfRemovals(client, this.#book.removals)))
    violations.push(...(await faultsOfCutRemovals(client, this.#book.removals, sweptMs)))
    violations.push(...(await this.#system.database.primary.with((connection) => faultsAt(connection, fromMs))))
    for (const description of this.#book.contradictions) violations.push({ rule: 'answers agree', id: '', description })
    const all = [...listed.values()]
    const ends = countsOf(all.map(({ status }) => status))
    const failed = all.filter(({ status }) => status === 'ERROR')
    const reasons = countsOf(failed.map(({ timeline }) => timeline.events.at(-1)?.explanation?.slice(0, 60) ?? 'none'))
    return { executions: listed.size, ends, reasons, violations }
  }

  async close(): Promise<void> {
    await Promise.all([this.#ledger.close(), this.#receiver.close()])
  }

  /** Until nothing is without an end; what is not then shows in the examination. */
  async #rest(): Promise<void> {
    const isAtRest = async () => {
      const counts = await Promise.all(
        ['CREATED', 'QUEUED', 'DEQUEUED', 'RUNNING'].map((status) =>
          this.#client.get<Page<Execution>>('/executions', { status, limit: 1 }),
        ),
      )
      return counts.every(({ status, body }) => status === 200 && body.data.length === 0)
    }
    await waitUntil('rest', isAtRest, { timeoutMs: restWithinMs, everyMs: 300 }).catch(() => false)
  }

  /**
   * A callback or a late error handler whose claim was cut off is tried again once the lease of that claim is over, after
   * at most half a minute.
   */
  async #followUps(fromMs: number): Promise<Violation[]> {
    const at = { client: this.#client, book: this.#book, receiver: this.#receiver }
    let faults: Violation[] = []
    const look = async () => {
      faults = await faultsOfFollowUps(at, await executionsBetween(this.#client, fromMs))
      return faults.length === 0
    }
    const within = { timeoutMs: restWithinMs, everyMs: 2000 }
    await waitUntil('what follows from ends', look, within).catch(() => false)
    return faults
  }

  /** I6: a run whose runner was lost ends as soon as that can be known: after the strike, and a lease with its reaping. */
  #endedLate(listed: Map<string, Execution>): Violation[] {
    const dueMs = (leaseMs * 4) / 3 + 10_000
    const found: Violation[] = []
    for (const { id, updatedAt, timeline } of listed.values()) {
      if (!/runner lost/.test(timeline.events.at(-1)?.explanation ?? '')) continue
      const endedAt = Date.parse(updatedAt)
      const last = this.#hits.findLast(({ beganAt }) => beganAt <= endedAt)
      if (last === undefined || endedAt <= last.wholeAt + dueMs) continue
      const description = `ended ${endedAt - last.wholeAt} ms after ${last.kind} of ${last.what} was mended`
      found.push({ rule: 'I6 nothing is RUNNING without a lease', id, description })
    }
    return found
  }

  /** Runs of a replica whose clock was wrong say nothing about which of two began first. */
  async #ofSchedules(fromMs: number): Promise<Violation[]> {
    const found = await this.#schedules.examine(fromMs, this.#hits[0]?.beganAt ?? Date.now())
    const hadWrongClock = this.#hits.some(({ kind }) => kind === 'clock')
    return found.filter(({ rule }) => !hadWrongClock || !rule.startsWith('runs of a schedule that may not overlap'))
  }
}

function countsOf(words: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(words, (word) => word)].map(([word, all]) => [word, all.length]))
}

function difference(now: Record<string, number>, before: Record<string, number>): Record<string, number> {
  const more = Object.entries(now).map(([how, count]) => [how, count - (before[how] ?? 0)] as const)
  return Object.fromEntries(more.filter(([, count]) => count > 0))
}
