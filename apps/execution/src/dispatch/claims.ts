import { isConnectionFailure } from '@automation/database'
import { Failure } from '@automation/errors'
import { failPoint, Tally, type Logger } from '@automation/service'
import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import { LRUCache } from 'lru-cache'
import type { Backlog } from './backlog.ts'
import type { Assignments } from './assignments.ts'
import { allLanguages, type Languages } from './languages.ts'
import { passes, whilePatient } from './patience.ts'
import type { Slot, Portion } from './slots.ts'
import type { Runners } from './runners.ts'
import type { UnservedTeams } from './runner-capacity.ts'
import type { RunLimits } from '../run-limits.ts'
import type { Metrics } from '../metrics.ts'
import type { QueuedRun, Signals } from '../signals.ts'
import type { ForcedEnds } from '../end/forced-ends.ts'
import type { NestedRuns } from './nested-runs.ts'
import { deepest, type Nesting } from './nesting.ts'
import { sourceMarkOf } from '../accept/source-mark.ts'
import { checkSpecSize, type SpecName, type Specs } from '../accept/specs.ts'
import { claimRows, noteSourceMark, readClaimed, type Claimed, type ClaimRequest } from '../store/claim-rows.ts'
import { bytesOf } from '../store/stored-text.ts'
import { statementTimeoutMs } from '../store/pools.ts'
import type { Queries } from '../store/connections.ts'

export interface ClaimsContext {
  pool: Queries
  runners: Runners
  assignments: Assignments
  backlog: Backlog
  specs: Specs
  specMaxBytes: number
  limits: RunLimits
  metrics: Metrics
  logger: Logger
  /** Ends claimed runs that can't be assigned. */
  forced: ForcedEnds
  /** Runs that waited for others take their slots back first. */
  nested: NestedRuns
  nesting: Nesting
  unserved: UnservedTeams
  signals: Signals
}

const teamsPerClaim = 64
const largestClaim = 256
/** Between questions whether specs of a team are to be had again. */
const askAgainMs = 500
/** After which a statement of ours is over in the database, though its connection was lost. */
const overAfterMs = statementTimeoutMs + 500

/**
 * Takes runs out of the queue when runners grant slots, one claim at a time for each pool. A slot goes to the team with the
 * fewest runs in flight in the pool, as far as this replica gave them their slots; of such to the one that waits longest.
 */
export class Claims {
  readonly #context: ClaimsContext
  readonly #looking = new Map<string, { again: boolean }>()
  /** Claims and assignments that are on their way. */
  readonly #underWay = new Set<Promise<void>>()
  /** Runs that are claimed and not assigned yet, by pool and team: how many. */
  readonly #assigning = new Tally()
  /** When teams had no slot for what was in their queues, the last time. */
  readonly #heldAtMs = new LRUCache<string, number>({ max: 10_000 })
  /** Teams of which no specs are to be had at present: what is claimed of them would only end as ERROR. */
  readonly #withoutSpecs = new Set<string>()
  #quiet = false
  #stopped = false

  constructor(context: ClaimsContext) {
    this.#context = context
    const { signals } = context
    signals.queued.on((run) => this.#queued(run))
    signals.slotGranted.on((pool) => this.look(pool))
    signals.slotFreed.on((team) => this.slotFreed(team))
  }

  /** A slot of this team came free, wherever. */
  slotFreed(team: string): void {
    const { backlog, nested } = this.#context
    for (const pool of backlog.slotFreed(team)) this.look(pool)
    nested.slotFreed(team)
  }

  /** Whether the next run of this team that is known to be queued can begin here, other than in the last slot of a pool. */
  canBegin(team: string): boolean {
    const { backlog, runners, nesting } = this.#context
    const { slots } = runners
    const canIn = (pool: string) =>
      slots.credit(pool) > 1 &&
      [...backlog.languages(pool, team)].some((language) => slots.hasForRun(pool, team, language))
    return !this.#stopped && nesting.leastDepth(team) === 0 && backlog.pools().some(canIn)
  }

  /** There may be something to claim in this pool: a slot of a runner or of a team, or a queued run is new. */
  look(pool: string): void {
    const looking = this.#looking.get(pool)
    if (looking !== undefined) {
      looking.again = true
      return
    }
    const { backlog, runners } = this.#context
    if (this.#stopped || !backlog.pools().includes(pool) || runners.slots.credit(pool) === 0) return
    const now = { again: true }
    this.#looking.set(pool, now)
    this.#track(this.#work(pool, now))
  }

  /** Nothing more is claimed; runs that waited for others still go on. Returns when what was claimed is assigned. */
  async quiesce(): Promise<void> {
    this.#quiet = true
    await this.#allAssigned()
  }

  /** Nothing more is claimed; returns when what was claimed is assigned. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#allAssigned()
  }

  async #allAssigned(): Promise<void> {
    // A claim that comes back has runs to assign.
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  #queued({ pool, team, spec, depth = deepest }: QueuedRun): void {
    const { runners, backlog, nesting, unserved } = this.#context
    const leastDepth = nesting.leastDepth(team)
    if (leastDepth > 0 && depth >= leastDepth) backlog.slotFreed(team)
    if (runners.slots.hasForRun(pool, team, spec.language)) this.look(pool)
    else unserved.look(pool)
    if (!this.#looking.has(pool)) this.#leave(pool)
  }

  /** What was queued here and could not be begun is told to those that may. */
  #leave(pool: string): void {
    const { backlog, signals } = this.#context
    for (const team of backlog.unnotified(pool)) {
      const languages = [...backlog.languages(pool, team)]
      if (languages.length > 0) signals.leftOver.emit({ pool, team, languages })
    }
  }

  async #work(pool: string, now: { again: boolean }): Promise<void> {
    while (now.again && !this.#stopped) {
      now.again = false
      try {
        await this.#context.nested.resumeAll()
        if (!this.#stopped && !this.#quiet && (await this.#round(pool))) now.again = true
      } catch (error) {
        this.#context.logger.warn({ err: error, pool }, 'a claim failed')
      }
    }
    // In the same turn as the last look at `again`, so that no call is lost in between.
    this.#looking.delete(pool)
    this.#leave(pool)
  }

  /** One round of claims; whether another may bring more at once. */
  async #round(pool: string): Promise<boolean> {
    const { runners, backlog } = this.#context
    const { slots } = runners
    const inFlight = (team: string) => this.#inFlight(pool, team)
    const teamsOf = (languages: Languages) => {
      const canServe = (team: string) => !this.#withoutSpecs.has(team) && slots.hasFor({ pool, languages }, team)
      return backlog.turns(pool, teamsPerClaim, { languages, inFlight, canServe })
    }
    let mayBringMore = false
    for (const portion of slots.portions(pool, teamsOf, largestClaim)) {
      if (await this.#claim(pool, portion)) mayBringMore = true
    }
    return mayBringMore && slots.credit(pool) > 0
  }

  /** One claim; whether it brought runs, or a team less to ask for. */
  async #claim(pool: string, { languages, teams, slots }: Portion): Promise<boolean> {
    const { backlog, limits, nesting, metrics, signals } = this.#context
    const sessions = slots.map(({ sessionId }) => sessionId)
    const inFlight = teams.map((team) => this.#inFlight(pool, team))
    const only = languages === allLanguages ? undefined : languages
    const request: ClaimRequest = {
      pool,
      teams,
      only,
      sessions,
      inFlight,
      quotas: quotasOf(slots.length, inFlight),
      maxRunning: teams.map((team) => limits.beginning(team, true)),
      leastDepths: teams.map((team) => nesting.leastDepth(team)),
      fence: newFence(),
    }
    const began = performance.now()
    const result = await this.#claimRows(request, slots)
    if (result === undefined) return false
    const { claimed, turns } = result
    if (claimed.length > 0) metrics.writer('claim').flushed(claimed.length, performance.now() - began)
    this.#measure(result)
    for (const team of new Set(claimed.map((run) => run.team))) backlog.served(pool, team)
    let isOver = false
    // What has moved or was removed has no turn, and nothing here.
    const there = new Set(turns.map(({ team }) => team))
    for (const team of teams) if (!there.has(team)) backlog.wasEmpty(pool, team, languages)
    for (const { team, left } of turns) {
      const isHeldBack = left === 'none' && request.leastDepths[teams.indexOf(team)]! > 0
      // It may have some in another language.
      if (left === 'some' || (isHeldBack && only !== undefined)) continue
      if (left === 'none' && !isHeldBack) backlog.wasEmpty(pool, team, languages)
      else backlog.reachedLimit(pool, team)
      if (left === 'no slot') signals.slotAwaited.emit({ team, to: 'begin' })
      isOver = true
    }
    this.#use(claimed, slots, request.fence)
    return claimed.length > 0 || isOver
  }

  /** Undefined where its outcome is unknown: then the slots are kept until it is known. */
  async #claimRows(request: ClaimRequest, slots: Slot[]): Promise<Awaited<ReturnType<typeof claimRows>> | undefined> {
    try {
      const result = await claimRows(this.#context.pool, request)
      failPoint('claim-after-commit')
      this.#context.signals.changed.emit(result.claimed.map(({ id }) => id))
      return result
    } catch (error) {
      if (!isConnectionFailure(error)) {
        this.#giveBack(slots)
        throw error
      }
      this.#recover(request, slots)
      return undefined
    }
  }

  /** The claim may have been committed, now or a little later: what it made RUNNING is ours to assign. */
  #recover({ sessions, fence, pool }: ClaimRequest, slots: Slot[]): void {
    const later = async () => {
      await new Promise((resolve) => setTimeout(resolve, overAfterMs))
      try {
        const ask = () => readClaimed(this.#context.pool, [...new Set(sessions)], fence)
        this.#use(await whilePatient(ask), slots, fence)
      } catch (error) {
        // What it made RUNNING all the same is never named by its runner, and ends as lost.
        this.#giveBack(slots)
        throw error
      } finally {
        this.look(pool)
      }
    }
    this.#track(later())
  }

  #use(claimed: Claimed[], slots: Slot[], fence: bigint): void {
    const unused = [...slots]
    for (const run of claimed) {
      const index = unused.findIndex(({ sessionId }) => sessionId === run.sessionId)
      this.#track(this.#assign(run, unused.splice(index, 1)[0]!, fence))
    }
    this.#giveBack(unused)
  }

  #giveBack(slots: Slot[]): void {
    for (const slot of slots) this.#context.runners.slots.giveBack(slot)
  }

  async #assign(run: Claimed, slot: Slot, fence: bigint): Promise<void> {
    const { pool, specs, specMaxBytes, runners, assignments, forced } = this.#context
    const { id, team, processId, versionId } = run
    this.#assigning.add(`${run.pool} ${team}`, 1)
    try {
      const name = { team, identifier: processId, tag: versionId ?? '' }
      const spec = await whilePatient(() => this.#specOf(name, run.traceparent ?? undefined))
      // What runs see may have grown since it was accepted.
      checkSpecSize(spec, specMaxBytes)
      specs.keep(name, spec)
      const mark = sourceMarkOf(spec)
      if (run.sourceMark !== String(mark)) this.#track(noteSourceMark(pool, id, mark))
      const texts = {
        comment: run.comment ?? undefined,
        initiatedBy: run.initiatedBy ?? undefined,
        scheduleId: run.scheduleId ?? undefined,
        traceparent: run.traceparent ?? undefined,
      }
      const request = run.request === null ? undefined : bytesOf(run.request)
      failPoint('assign-before')
      const assigned = assignments.assign({
        ...run,
        ...texts,
        slot,
        spec,
        request,
        fence,
        parameters: bytesOf(run.parameters),
      })
      failPoint('assign-after')
      if (assigned !== true && !(await assigned)) this.look(run.pool)
    } catch (error) {
      runners.slots.giveBack(slot)
      this.look(run.pool)
      const explanation = error instanceof Failure ? error.message : 'The run could not be assigned'
      await whilePatient(() => forced.fail([id], explanation))
    } finally {
      this.#assigning.add(`${run.pool} ${team}`, -1)
    }
  }

  async #specOf(name: SpecName, traceparent?: string): Promise<RunSpec> {
    try {
      return await this.#context.specs.resolveAgain(name, traceparent)
    } catch (error) {
      if (passes(error) && !this.#withoutSpecs.has(name.team)) {
        this.#withoutSpecs.add(name.team)
        this.#track(this.#untilSpecsAreThere(name))
      }
      throw error
    }
  }

  async #untilSpecsAreThere(name: SpecName): Promise<void> {
    const { specs, backlog } = this.#context
    for (let isAway = true; isAway && !this.#stopped && !this.#quiet;) {
      await new Promise((resolve) => setTimeout(resolve, askAgainMs))
      isAway = await specs.resolveAgain(name).then(() => false, passes)
    }
    this.#withoutSpecs.delete(name.team)
    for (const pool of backlog.pools()) this.look(pool)
  }

  /** Runs of the team in this pool that have their slot here, or are about to be assigned. */
  #inFlight(pool: string, team: string): number {
    return this.#context.runners.slots.holds(pool, team) + this.#assigning.of(`${pool} ${team}`)
  }

  /** How long these have waited, without those that the limit of their team has held meanwhile. */
  #measure({ claimed, turns }: Awaited<ReturnType<typeof claimRows>>): void {
    const nowMs = performance.now()
    for (const { team, left } of turns) if (left === 'no slot') this.#heldAtMs.set(team, nowMs)
    for (const { team, queuedS } of claimed)
      if (typeof queuedS === 'number' && nowMs - queuedS * 1000 > (this.#heldAtMs.get(team) ?? -Infinity))
        this.#context.metrics.startDelay.observe(Math.max(0, queuedS))
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.#context.logger.error({ err: error }, 'a claim could not be completed'))
      .finally(() => this.#underWay.delete(tracked))
    this.#underWay.add(tracked)
  }
}

/**
 * The most of these slots for each team, by its runs in flight: as many as it has when the next one always goes to the team
 * with the fewest, and no less than an equal share, as others may have no run for theirs.
 */
function quotasOf(slots: number, inFlight: readonly number[]): number[] {
  const quotas = inFlight.map(() => 0)
  for (let left = slots; left > 0; left -= 1) {
    let next = 0
    for (let team = 1; team < quotas.length; team += 1)
      if (inFlight[team]! + quotas[team]! < inFlight[next]! + quotas[next]!) next = team
    quotas[next]! += 1
  }
  const share = Math.ceil(slots / quotas.length)
  return quotas.map((quota) => Math.max(quota, share))
}

/** Above every first fence, and different for each claim of each replica. */
function newFence(): bigint {
  return BigInt(Date.now()) * 4096n + BigInt(Math.floor(Math.random() * 4096))
}
