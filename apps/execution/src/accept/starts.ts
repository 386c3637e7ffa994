import { createdAtMs, isConnectionFailure } from '@automation/database'
import { Status } from '@automation/contract/execution/v1/execution'
import { Failure, notFound, unavailable } from '@automation/errors'
import { failPoint, type Logger } from '@automation/service'
import { awaitsPackages, whyHeld } from './specs.ts'
import { UnknownStarts } from './unknown-starts.ts'
import { untilReachable } from './until-reachable.ts'
import type { Backlog } from '../dispatch/backlog.ts'
import type { Assignments } from '../dispatch/assignments.ts'
import type { Nesting } from '../dispatch/nesting.ts'
import type { Slot } from '../dispatch/slots.ts'
import type { RunnerCapacity } from '../dispatch/runner-capacity.ts'
import type { RunLimits } from '../run-limits.ts'
import type { Runners } from '../dispatch/runners.ts'
import type { Signals } from '../signals.ts'
import { BatchWriter } from '../store/batch-writer.ts'
import type { Metrics } from '../metrics.ts'
import { KnownTeams } from '../store/known-teams.ts'
import type { TeamMoves } from '../move/team-moves.ts'
import { isAway, isTakenBack, isUnsent, type Queries } from '../store/connections.ts'
import type { StartKey } from '../store/start-keys.ts'
import { readStartOutcomes } from '../store/executions.ts'
import type { Partitions } from '../store/partitions.ts'
import { arrivalWeight, type Arrival, type NewRun } from '../store/new-run-columns.ts'
import {
  firstFence,
  insertArrivals,
  insertKeyedArrivals,
  insertRejected,
  requeueArrivals,
  type StartOutcome,
  type TeamLimits,
} from '../store/start-rows.ts'

interface Item extends Arrival {
  /** Monotonic ms after which the caller is told that the database is away. */
  giveUpAtMs: number
  /** Taken for it, where one was free. */
  slot?: Slot
  /** None was looked for, as older runs of the team come first. */
  isBehind?: boolean
  /** A statement without an answer may have written it. */
  isUnknown?: boolean
  /** It looks for a slot when it goes: until then it would hold one in vain. */
  isUnplaced?: boolean
}

interface KeyedItem extends Item {
  key: StartKey
}

class StartWriter<I> extends BatchWriter<I, StartOutcome | undefined> {}

/** For light items and for heavy ones. */
interface Writers<I> {
  light: StartWriter<I>
  heavy: StartWriter<I>
}

interface StartsContext {
  /** For starts without a key. */
  batches: Queries
  /** For keyed starts, which may have to wait for those of other replicas. */
  pool: Queries
  heavy: Queries
  teamMoves: TeamMoves
  runners: Runners
  assignments: Assignments
  capacity: RunnerCapacity
  backlog: Backlog
  limits: RunLimits
  nesting: Nesting
  replicaId: string
  partitions: Partitions
  signals: Signals
  metrics: Metrics
  logger: Logger
  /** Aborted at the very end. */
  signal: AbortSignal
}

/** Heavier arrivals go one by one, one of a team at a time, beside the others, which do not wait for them. */
const heavyBytes = 1024 * 1024

const unnamed: readonly string[] = []

/** Leaves time for one more attempt. */
const patienceMs = 2000
/** In which a caller has an answer. */
const answeredMs = 5000
/** Later than that there is no time for an attempt any more. */
const lateMs = 1500

/**
 * Accepts runs: with a slot at hand and nobody of the team waiting, the row is written as RUNNING and the run assigned;
 * else it waits in the queue. All that comes while a write is on its way goes with the next one, unless it is heavy.
 */
export class Starts {
  readonly #context: StartsContext
  readonly #unkeyed: Writers<Item>
  readonly #knownTeams: KnownTeams
  /** Of starts under a key. */
  readonly #keyed: Writers<KeyedItem>
  /** Refusals under a key that are on their way. */
  readonly #rejections = new Set<Promise<StartOutcome | undefined>>()
  /** Of starts that were refused while nobody knew what they had written. */
  readonly #unknown: UnknownStarts<Item>

  constructor(context: StartsContext) {
    this.#context = context
    this.#knownTeams = new KnownTeams(context.teamMoves)
    this.#unknown = new UnknownStarts({
      pool: context.pool,
      logger: context.logger,
      signal: context.signal,
      settle: (item, outcome) => this.#settle(item, outcome),
      giveBack: (item) => this.#giveBack(item),
    })
    const common = {
      weight: arrivalWeight,
      owner: ({ run }: Item) => run.team,
      // Limits are those of a statement.
      group: ({ run }: Item) => context.limits.keyOf(run.team, isOfRun(run)),
      width: 2,
    }
    const alone = { group: ({ run }: Item) => run.id, spreads: () => false }
    const unkeyed = {
      ...common,
      isolates: (error: unknown) => !isUnanswered(error),
      spreads: isUnanswered,
      metrics: context.metrics.writer('start'),
    }
    const flushBy = (queries: Queries) => (items: Item[]) => this.#flush(items, queries)
    this.#unkeyed = {
      light: new StartWriter<Item>({ ...unkeyed, flush: flushBy(context.batches) }),
      heavy: new StartWriter<Item>({ ...unkeyed, ...alone, flush: flushBy(context.heavy) }),
    }
    const keyed = {
      ...common,
      isolates: (error: unknown) => !isAway(error),
      spreads: isAway,
      metrics: context.metrics.writer('start_once'),
    }
    this.#keyed = {
      light: new StartWriter<KeyedItem>({ ...keyed, flush: (items) => this.#flushOnce(items, context.pool) }),
      heavy: new StartWriter<KeyedItem>({
        ...keyed,
        ...alone,
        flush: (items) => this.#flushOnce(items, context.heavy),
      }),
    }
  }

  /**
   * Durable when it returns. Failures: process_not_found where it was deleted meanwhile, team_moved, unavailable within
   * 5 s, with the id of the run where that may be there all the same.
   */
  async start(run: NewRun): Promise<StartOutcome> {
    const outcome = await this.#ofOwn(run, () => this.#add(this.#unkeyed, this.#arrive(run)))
    if (outcome === undefined) throw notFound('process')
    return outcome
  }

  /** The same for what may start only once: undefined where its key was there before, or its caller has ended. */
  startOnce(run: NewRun, key: StartKey): Promise<StartOutcome | undefined> {
    return this.#ofOwn(run, () => this.#add(this.#keyed, { ...this.#arrive(run), key }))
  }

  async #add<I extends Item & { key?: StartKey }>(writers: Writers<I>, item: I): Promise<StartOutcome | undefined> {
    try {
      const outcome = await writers[isHeavy(item.run) ? 'heavy' : 'light'].add(item)
      if (outcome === undefined) this.#giveBack(item)
      else this.#settle(item, outcome)
      return outcome
    } catch (error) {
      if (item.isUnknown === true && item.slot !== undefined) this.#unknown.add(item)
      else this.#giveBack(item)
      // Who comes again under its key gets this run, or one that is new.
      throw item.isUnknown === true && item.key === undefined ? perhapsStarted(error, item.run.id) : error
    }
  }

  /** The same for what can't be started, for the reason that its record gives: it is REJECTED. */
  rejectOnce(run: NewRun, key: StartKey, reason: string): Promise<StartOutcome | undefined> {
    const rejection = this.#rejectOnce(run, key, reason).finally(() => this.#rejections.delete(rejection))
    this.#rejections.add(rejection)
    return rejection
  }

  async #rejectOnce(run: NewRun, key: StartKey, reason: string): Promise<StartOutcome | undefined> {
    const { pool: light, heavy, replicaId } = this.#context
    const pool = isHeavy(run) ? heavy : light
    const item = { run, ...deadlines() }
    const insert = async () => {
      const outcome = await insertRejected(pool, item, key, reason, replicaId)
      return outcome === undefined ? [] : [outcome]
    }
    return this.#ofOwn(run, async () => {
      const [outcome] = await this.#untilReachable(item, () => this.#insertOnce([item], insert, pool))
      return outcome
    })
  }

  /**
   * What an attempt gives, made where the team is of this cell; made once more where this replica knew only a removed
   * team of the same slug. Failure team_moved.
   */
  async #ofOwn<T>({ team }: NewRun, attempt: () => Promise<T | undefined>): Promise<T | undefined> {
    await this.#requireOwn(team)
    const outcome = await attempt()
    if (outcome !== undefined || (await this.#knownTeams.stays(this.#context.pool, team))) return outcome
    await this.#requireOwn(team)
    return attempt()
  }

  /** Not in a batch, where others would wait for the catalog. */
  async #requireOwn(team: string): Promise<void> {
    if (this.#knownTeams.isOwn(team)) return
    const patience = { giveUpAtMs: performance.now() + patienceMs }
    await this.#untilReachable(patience, () => this.#knownTeams.requireOwn(this.#context.pool, team))
  }

  /** Returns when nothing is on its way. */
  async idle(): Promise<void> {
    const writers = [this.#unkeyed, this.#keyed].flatMap(({ light, heavy }) => [light.idle(), heavy.idle()])
    await Promise.all([...writers, Promise.allSettled(this.#rejections)])
    await this.#unknown.idle()
    await this.#context.assignments.idle()
  }

  #arrive(run: NewRun): Item {
    return { run, ...deadlines(), ...(isHeavy(run) ? { isUnplaced: true } : this.#place(run)) }
  }

  #place(run: NewRun): Pick<Item, 'sessionId' | 'slot' | 'isBehind' | 'waitsFor'> {
    const { runners, capacity, backlog, nesting } = this.#context
    const { pool, team, spec } = run
    if (awaitsPackages(spec)) return { waitsFor: whyHeld(spec) }
    const leastDepth = nesting.leastDepth(team)
    if (run.depth < leastDepth) return { waitsFor: 'what runs of the team have called and wait for comes first' }
    const isBehind = backlog.has(pool, team, spec.language)
    const slot = isBehind ? undefined : runners.slots.take(pool, team, spec.language)
    if (slot !== undefined) return { sessionId: slot.sessionId, slot }
    const otherwise = isBehind ? 'older runs of the team come first' : `no slot is free in the pool ${pool}`
    return { isBehind, waitsFor: capacity.whyNone(pool, team, spec.language) ?? otherwise }
  }

  #placeAll(items: Item[]): void {
    for (const item of items) if (item.isUnplaced) Object.assign(item, this.#place(item.run), { isUnplaced: false })
  }

  async #flush(items: Item[], queries: Queries): Promise<(StartOutcome | undefined)[]> {
    const { limits, replicaId } = this.#context
    const deadline = inTime(items)
    this.#placeAll(items)
    // Where one of several teams is locked, each is tried alone.
    const isOneTeam = items.every(({ run }) => run.team === items[0]!.run.team)
    const repeats = isOneTeam ? isConnectionFailure : isUnanswered
    const attempt = async () => {
      await this.#knownTeams.ensure(queries, items)
      failPoint('start-before-commit')
      if (items.some(({ isUnknown }) => isUnknown)) {
        await requeueArrivals(queries, items, replicaId)
        return readStartOutcomes(
          queries,
          items.map(({ run }) => run.id),
        )
      }
      return unknownUnlessAnswered(items, insertArrivals(queries, items, limitsFor(limits, items), replicaId))
    }
    const outcomes = await this.#untilReachable(deadline, attempt, repeats)
    failPoint('start-after-commit')
    this.#context.signals.changed.emit(unnamed)
    const byId = new Map(outcomes.map((one) => [one.id, one]))
    return items.map(({ run }) => byId.get(run.id))
  }

  async #flushOnce(items: KeyedItem[], pool: Queries): Promise<(StartOutcome | undefined)[]> {
    const { limits, replicaId } = this.#context
    const latest = inTime(items)
    this.#placeAll(items)
    const insert = () =>
      unknownUnlessAnswered(items, insertKeyedArrivals(pool, items, limitsFor(limits, items), replicaId))
    // Where one of many waits for a lock, each is tried alone.
    const repeats = items.length === 1 ? isConnectionFailure : isAway
    return this.#untilReachable(latest, () => this.#insertOnce(items, insert, pool), repeats)
  }

  async #insertOnce(
    items: Item[],
    insert: () => Promise<StartOutcome[]>,
    pool: Queries,
  ): Promise<(StartOutcome | undefined)[]> {
    await this.#knownTeams.ensure(pool, items)
    failPoint('start-before-commit')
    const outcomes = new Map((await insert()).map((one) => [one.id, one]))
    failPoint('start-after-commit')
    this.#context.signals.changed.emit(unnamed)
    const ids = items.map(({ run }) => run.id)
    const missing = ids.filter((id) => !outcomes.has(id))
    // After a commit with unknown outcome a key may be there through this very run.
    if (missing.length > 0) for (const one of await readStartOutcomes(pool, missing)) outcomes.set(one.id, one)
    return ids.map((id) => outcomes.get(id))
  }

  #settle(item: Item, outcome: StartOutcome): void {
    const { assignments, backlog, signals, metrics } = this.#context
    const { run, slot } = item
    // A run that was queued after an unknown outcome may be RUNNING by a claim, which assigns it.
    if (outcome.status === Status.RUNNING && slot !== undefined && outcome.sessionId === slot.sessionId) {
      metrics.startDelay.observe(Math.max(0, Date.now() - createdAtMs(run.id)) / 1000)
      failPoint('assign-before')
      const given = assignments.assign({ ...run, slot, fence: firstFence })
      const over = (isGiven: boolean) => {
        if (!isGiven) signals.slotGranted.emit(run.pool)
      }
      if (typeof given === 'boolean') over(given)
      else void given.then(over)
      failPoint('assign-after')
      return
    }
    this.#giveBack(item)
    if (outcome.status !== Status.QUEUED || awaitsPackages(run.spec)) return
    backlog.queued(run.pool, run.team, run.spec.language, item.isBehind)
    signals.queued.emit(run)
  }

  #giveBack({ slot, run }: Item): void {
    if (slot === undefined) return
    this.#context.runners.slots.giveBack(slot)
    this.#context.signals.slotGranted.emit(run.pool)
  }

  #untilReachable<T>(
    { giveUpAtMs }: { giveUpAtMs: number },
    attempt: () => Promise<T>,
    repeats = isConnectionFailure,
  ): Promise<T> {
    return untilReachable({ partitions: this.#context.partitions, giveUpAtMs, repeats }, attempt)
  }
}

const isHeavy = (run: NewRun): boolean => arrivalWeight({ run }) > heavyBytes

function deadlines(): Pick<Item, 'giveUpAtMs' | 'answerAtMs'> {
  const now = performance.now()
  return { giveUpAtMs: now + patienceMs, answerAtMs: now + answeredMs }
}

/** A run of ours has asked for it. */
function isOfRun({ parentId }: NewRun): boolean {
  return parentId !== undefined
}

/** Of runs with the same limits. */
function limitsFor(limits: RunLimits, [item]: Item[]): TeamLimits {
  return limits.of(item!.run.team, isOfRun(item!.run))
}

/** When the last of them gives up. Failure unavailable where that was too long ago. */
function inTime(items: Item[]): { giveUpAtMs: number } {
  const giveUpAtMs = Math.max(...items.map((item) => item.giveUpAtMs))
  if (performance.now() > giveUpAtMs + lateMs) throw unavailable('The database is not available, try again')
  return { giveUpAtMs }
}

function perhapsStarted(cause: unknown, executionId: string): Failure {
  const text = `The database is not available, and execution ${executionId} may run all the same: look at it before you try again`
  return new Failure('unavailable', 'unavailable', text, { cause, retryAfterS: 1, executionId })
}

/** What a statement gives; where it was sent and nobody knows what it has written, its items are unknown. */
async function unknownUnlessAnswered<T>(items: Item[], written: Promise<T>): Promise<T> {
  try {
    return await written
  } catch (error) {
    if (isUnanswered(error) && !isUnsent(error)) for (const item of items) item.isUnknown = true
    throw error
  }
}

/** Whether nobody knows what a statement has written, as the database is away. */
function isUnanswered(error: unknown): boolean {
  return isConnectionFailure(error) && !isTakenBack(error)
}
