import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '@automation/testing/random'
import { Client, accessTokenOf } from '../client/client.ts'
import { withRows } from '../system/database.ts'
import { Book } from './book.ts'
import { awaitRest, endedLate, examine, executionsBetween, leftBehind } from './examination.ts'
import { changedSince } from './invariants.ts'
import type { Violation } from './invariants.ts'
import { openLedger } from './ledger.ts'
import type { Ledger } from './ledger.ts'
import { faultsOfRows } from './rows.ts'
import { Load } from './load.ts'
import { faultsOfCutRemovals, faultsOfRemovals } from './removals.ts'
import { Schedules } from './schedules.ts'
import { hitsRunner, nameOf } from './strikes.ts'
import type { Strike } from './strikes.ts'
import { leaseMs } from './subject.ts'
import type { Subject } from './subject.ts'

/** One kill and what came of it. */
export interface Round {
  shape: string
  strike: string
  reached: boolean
  recoveredMs: number
  tookMs: number
  /** Until the strike hit, until the system was back, until nothing was without an end, in milliseconds. */
  phasesMs: number[]
  executions: number
  ends: Record<string, number>
  violations: Violation[]
}

const callers = 12

/** A deletion that was cut off is taken up again after so long at most. */
const sweptMs = 25_000

/** A system of one shape under load, which is struck round after round and examined after each. */
export class Campaign {
  readonly subject: Subject
  readonly #random: Random
  readonly #book = new Book()
  readonly #rounds: number[] = []
  #ledger: Ledger | undefined
  #client: Client | undefined
  #load: Load | undefined
  #schedules: Schedules | undefined

  constructor(subject: Subject, random: Random) {
    this.subject = subject
    this.#random = random
  }

  async begin(): Promise<void> {
    this.#ledger = await openLedger()
    await this.subject.start()
    const { host, team, apiToken } = this.subject.system
    this.#client = new Client({ host, team, accessToken: await accessTokenOf(host, team, apiToken) })
    this.#load = new Load({ client: this.#client, ledgerUrl: this.#ledger.url, book: this.#book, random: this.#random })
    const worker = await this.#load.prepare()
    this.#schedules = new Schedules(this.#client, (ask) => withRows(this.subject.system.dataDir, ask))
    await this.#schedules.prepare(worker, this.#ledger.url)
  }

  async round(strike: Strike): Promise<Round> {
    const { client, ledger, load, schedules, subject } = this.#begun()
    const startedAt = Date.now()
    const removalsBefore = this.#book.removals.length
    this.#rounds.push(startedAt)
    if (strike.kind === 'fail point') {
      await subject.system.kill()
      await subject.start(`${strike.point}:${strike.pass}`)
    }
    load.start(callers)
    schedules.start()
    const { reached } = await subject.hit(strike, this.#random.between(300, 1500))
    const struckAt = Date.now()
    const recoveredMs = await subject.recover()
    const backAt = Date.now()
    const loadOver = delay(this.#random.between(200, 700)).then(() => load.stop())
    const [violations] = await Promise.all([schedules.stop(backAt), loadOver])
    const stoppedAt = Date.now()

    const windowFrom = (this.#rounds.at(-2) ?? startedAt) - 1000
    const listed = await awaitRest(client, windowFrom, 15_000)
    const at = { client, ledger, book: this.#book }
    const restAt = Date.now()
    violations.push(...(await examine(at, listed, windowFrom)))
    violations.push(...(await schedules.examine(windowFrom, struckAt)))
    violations.push(...endedLate(listed, backAt, (leaseMs * 4) / 3 + 2000))
    violations.push(...(await leftBehind(at, listed, hitsRunner(strike) || !reached ? struckAt : undefined)))
    violations.push(...(await faultsOfRemovals(client, this.#book.removals.slice(removalsBefore))))
    violations.push(...(await faultsOfRows(subject.system.dataDir, windowFrom)))
    for (const description of this.#book.contradictions.splice(0))
      violations.push({ rule: 'answers agree', id: '', description })
    const mine = [...listed.values()].filter(({ createdAt }) => Date.parse(createdAt) >= startedAt - 1000)
    const ends = Object.fromEntries(
      Map.groupBy(mine, ({ status }) => status)
        .entries()
        .map(([status, all]) => [status, all.length]),
    )
    return {
      shape: subject.shape,
      strike: nameOf(strike),
      reached,
      recoveredMs: Math.round(recoveredMs),
      tookMs: Date.now() - startedAt,
      phasesMs: [struckAt - startedAt, backAt - struckAt, stoppedAt - backAt, restAt - stoppedAt, Date.now() - restAt],
      executions: mine.length,
      ends,
      violations,
    }
  }

  /** Looks once more at everything of all rounds, then stops the system as an operator would. */
  async finish(): Promise<Violation[]> {
    const { client, ledger, subject } = this.#begun()
    const violations: Violation[] = []
    for (const [index, fromMs] of this.#rounds.entries()) {
      const listed = await executionsBetween(client, fromMs - 1000, this.#rounds[index + 1] ?? Date.now())
      const known = new Map([...this.#book.terminal].filter(([id]) => listed.has(id)))
      violations.push(...changedSince(Object.assign(new Book(), { terminal: known }), listed))
    }
    violations.push(...(await faultsOfCutRemovals(client, this.#book.removals, sweptMs)))
    await subject.system.stop()
    await ledger.close()
    return violations
  }

  /** How the calls of the load were answered, by status. */
  get answers(): Record<string, number> {
    return this.#begun().load.answers
  }

  #begun() {
    if (!this.#client || !this.#ledger || !this.#load || !this.#schedules) throw new Error('The campaign has not begun')
    return {
      client: this.#client,
      ledger: this.#ledger,
      load: this.#load,
      schedules: this.#schedules,
      subject: this.subject,
    }
  }
}
