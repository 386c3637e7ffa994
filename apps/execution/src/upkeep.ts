import type { FedEventBus } from '@automation/events'
import { createdAtMs } from '@automation/database'
import { Periodic, type Logger } from '@automation/service'
import type { DatabaseBytesLimit } from './accept/database-bytes-limit.ts'
import type { Claims } from './dispatch/claims.ts'
import type { KnownPools } from './dispatch/known-pools.ts'
import type { Backlog } from './dispatch/backlog.ts'
import type { Runners } from './dispatch/runners.ts'
import type { HeldRuns } from './dispatch/held-runs.ts'
import type { Metrics } from './metrics.ts'
import type { RunLimits } from './run-limits.ts'
import { wantedRunners } from './dispatch/wanted-runners.ts'
import type { NestedRuns } from './dispatch/nested-runs.ts'
import type { Peers } from './dispatch/peers.ts'
import type { Outcomes, Waiters } from './end/waiters.ts'
import type { ProcessDeletion } from './end/process-deletion.ts'
import type { RunCounter } from './react/run-counter.ts'
import type { Reaper } from './end/reaper.ts'
import { readBacklog, readQueueLengths } from './store/claim-rows.ts'
import type { Signals } from './signals.ts'
import type { Sessions } from './dispatch/sessions.ts'
import type { Partitions } from './store/partitions.ts'
import { readLivingRunners, readWaitingRuns } from './store/demand.ts'
import { forgetDeletedProcesses } from './store/deleted-processes.ts'
import { forgetDatabaseBytes } from './store/database-bytes.ts'
import { forgetRunCounts } from './store/run-counts.ts'
import { readSlotSums, recountSlots } from './store/run-slots.ts'
import { countCallbacks, forgetCallbacks } from './store/callbacks.ts'
import { countErrorHandlers } from './store/late-error-handlers.ts'
import { forgetSessions } from './store/sessions.ts'
import { mendTracked, readTrackingLagMs, trackRuns } from './store/tracked-runs.ts'
import { fillDays } from './store/counted-days.ts'
import { fillHours } from './store/hourly-sums.ts'
import { makeDayIndexes } from './store/day-indexes.ts'
import { removeExpiredKeys } from './store/start-keys.ts'
import { forgetRefusals } from './store/webhook-refusals.ts'
import type { TeamEvents } from './read/team-events.ts'
import type { TeamMoves } from './move/team-moves.ts'
import type { Watches } from './read/watches.ts'
import type { Connections } from './store/connections.ts'

interface UpkeepContext {
  hot: Connections
  reads: Connections
  partitions: Partitions
  retentionDays: number
  leaseMs: number
  measureMs?: number
  knownPools: KnownPools
  limits: RunLimits
  backlog: Backlog
  claims: Claims
  held: HeldRuns
  nested: NestedRuns
  runners: Runners
  waiters: Waiters
  watches: Watches
  teamEvents: TeamEvents
  outcomes: Outcomes
  teamMoves: TeamMoves
  counter: RunCounter
  databaseBytesLimit: DatabaseBytesLimit
  reaper: Reaper
  sessions: Sessions
  deletion: ProcessDeletion
  /** '' is the first one. */
  cell: string
  peers: Peers
  events: Pick<FedEventBus, 'backlogs'>
  signals: Signals
  metrics: Metrics
  logger: Logger
}

const lookMs = 1000
const peersMs = 2000
const poolsMs = 2000
// Live streams find so what other replicas write.
const watchMs = 500
// Streams of teams are told so often; nothing is read while there is none.
const teamEventsMs = 250
const heldMs = 500
const activeMs = 5000
const movesMs = 1000
const countMs = 2000
const databaseBytesMs = 2000
const usualMeasureMs = 5000

/** All that happens by the clock. Only a net where a wake-up was missed, never the way that a run takes. */
export class Upkeep {
  readonly #context: UpkeepContext
  readonly #works: Periodic[]
  readonly #retention: Periodic
  readonly #dayIndexes: Periodic
  readonly #countedDays: Periodic
  readonly #hourlySums: Periodic
  #look: Promise<void> | undefined
  #nextLook: Promise<void> | undefined

  constructor(context: UpkeepContext) {
    this.#context = context
    const { hot, reads, logger, leaseMs, reaper, deletion, sessions, runners, watches, held, counter, signals } =
      context
    const { measureMs = usualMeasureMs } = context
    const work = (name: string, everyMs: number, run: (signal: AbortSignal) => Promise<void>) =>
      new Periodic(name, everyMs, logger, run)
    const sweep = work('deleted processes', 5000, (signal) => deletion.sweep(signal))
    signals.processDeleted.on(() => sweep.soon())
    this.#works = [
      work('pools', poolsMs, () => context.knownPools.look()),
      work('queue', lookMs, () => this.lookAtQueue()),
      work('replicas', peersMs, () => context.peers.look()),
      work('held runs', heldMs, () => held.look()),
      work('tracked runs', lookMs, (signal) => trackRuns(hot, logger, { signal })),
      work('run counts', countMs, (signal) => counter.count(signal)),
      work('database bytes', databaseBytesMs, () => context.databaseBytesLimit.look()),
      work('waiters', lookMs, () => this.#lookAt(context.waiters.overdue(lookMs))),
      // Of a kill at another replica neither the runner's word nor a hint may have come.
      work('active runs', activeMs, () => this.#lookAt(runners.activeIds)),
      work('teams that left', movesMs, () => this.lookAtMoves()),
      work('watches', watchMs, () => watches.look()),
      work('team events', teamEventsMs, () => context.teamEvents.look()),
      work('gauges', measureMs, () => this.#measure()),
      work('leases', leaseMs / 3, async () => {
        await sessions.endWithoutToken(runners)
        await reaper.reap()
        await sessions.check(runners)
      }),
      work('slots', 300_000, async () => {
        if (context.peers.isLeader) await this.recount()
      }),
      sweep,
      (this.#dayIndexes = work('day indexes', 600_000, (signal) => makeDayIndexes(hot, logger, signal))),
      (this.#countedDays = work('counted days', 3_600_000, (signal) => fillDays(reads, signal))),
      (this.#hourlySums = work('hourly sums', 600_000, (signal) => fillHours(reads, signal))),
      work('partitions', 3_600_000, () => this.keepPartitions()),
      (this.#retention = work('retention', 600_000, (signal) => this.#retire(signal))),
    ]
  }

  start(): void {
    for (const work of this.#works) work.start()
    // However long nobody was here.
    this.#retention.soon()
    this.#dayIndexes.soon()
    this.#countedDays.soon()
    this.#hourlySums.soon()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#works.map((work) => work.stop()))
  }

  /** Days from now on for which there are partitions. */
  get partitionDays(): number {
    return this.#context.partitions.daysAhead(Date.now())
  }

  async keepPartitions(): Promise<void> {
    const { partitions, metrics } = this.#context
    try {
      await partitions.ensure(Date.now())
    } finally {
      metrics.partitionDays.set(this.partitionDays)
    }
  }

  /** Who waits here for runs of a team that has left does so where it went. */
  async lookAtMoves(): Promise<void> {
    const { teamMoves, outcomes } = this.#context
    await teamMoves.look()
    await outcomes.giveUp(teamMoves.left)
  }

  async recount(): Promise<void> {
    const { hot, logger } = this.#context
    await mendTracked(hot)
    const wrong = await recountSlots(hot)
    if (wrong > 0) logger.warn({ teams: wrong }, 'slot counts were wrong and are right again')
  }

  /** However many ask for it, one look is under way and one more follows: else hints of many replicas take all connections. */
  lookAtQueue(): Promise<void> {
    if (this.#look === undefined)
      return (this.#look = this.#lookOnce().finally(() => {
        this.#look = undefined
      }))
    return (this.#nextLook ??= this.#look
      .catch(() => undefined)
      .then(() => {
        this.#nextLook = undefined
        return this.lookAtQueue()
      }))
  }

  async #lookOnce(): Promise<void> {
    const { hot, knownPools, backlog, claims, nested, runners } = this.#context
    const wanted = knownPools.all.filter((pool) => runners.slots.credit(pool) > 0)
    if (wanted.length > 0) {
      const asked = wanted.map((name) => ({ name, withLanguages: !runners.slots.runsAll(name) }))
      for (const { pool, team, languages } of await readBacklog(hot, asked)) {
        backlog.add(pool, team, languages ?? undefined)
        backlog.slotFreed(team)
      }
      for (const pool of wanted) claims.look(pool)
    }
    await nested.resumeAll()
  }

  /** Finds the ends of these of which nothing has come here. */
  async #lookAt(ids: string[]): Promise<void> {
    if (ids.length > 0) await this.#context.outcomes.look(ids)
  }

  async #measure(): Promise<void> {
    const { reads, metrics, waiters, watches, teamEvents, runners, knownPools } = this.#context
    metrics.waiting.set(waiters.count)
    metrics.watching.set(watches.count + teamEvents.count)
    metrics.partitionDays.set(this.partitionDays)
    // A pool that was deleted is told of no more.
    for (const gauge of [metrics.credit, metrics.sessions]) gauge.reset()
    for (const pool of knownPools.all) {
      metrics.credit.set({ pool }, runners.slots.credit(pool))
      metrics.sessions.set({ pool }, runners.streams.filter((stream) => stream.pool === pool).length)
    }
    const { running, queued } = await readSlotSums(reads)
    metrics.running.set(running)
    metrics.queued.set(queued)
    const callbacks = await countCallbacks(reads)
    metrics.callbacksWaiting.set(callbacks.count)
    metrics.callbacksLate.set(callbacks.lateMs / 1000)
    metrics.errorHandlersWaiting.set(await countErrorHandlers(reads))
    metrics.trackingLag.set((await readTrackingLagMs(reads)) / 1000)
    await this.#measureQueues()
  }

  async #measureQueues(): Promise<void> {
    const { hot, metrics, knownPools, limits, events } = this.#context
    const queues = await readQueueLengths(hot, knownPools.all, limits.held)
    for (const gauge of [metrics.queue, metrics.queueOldest]) gauge.reset()
    for (const { pool, count, oldest } of queues) {
      metrics.queue.set({ pool }, count)
      metrics.queueOldest.set({ pool }, oldest === null ? 0 : Math.max(Date.now() - createdAtMs(oldest), 0) / 1000)
    }
    await this.#measureWanted()
    for (const { consumer, count, oldestMs } of await events.backlogs()) {
      metrics.eventBacklog.set({ consumer }, count)
      if (oldestMs !== undefined) metrics.eventOldest.set({ consumer }, oldestMs / 1000)
    }
  }

  /** One replica does it for all. */
  async #measureWanted(): Promise<void> {
    const { reads, metrics, knownPools, limits, runners, peers } = this.#context
    const pools = knownPools.all
    const [living, waiting] = peers.isLeader
      ? await Promise.all([readLivingRunners(reads, pools), readWaitingRuns(reads, pools, limits.runningOfAll)])
      : []
    metrics.runnersWanted.reset()
    if (living === undefined || waiting === undefined) return
    for (const pool of pools) {
      const load = {
        runners: living.filter((one) => one.pool === pool && !one.drains && !runners.slots.isLeaving(one.sessionId)),
        waiting: waiting.filter((one) => one.pool === pool),
        mostOf: (team: string) => runners.slots.mostRunnersIn(pool, team),
      }
      metrics.runnersWanted.set({ pool, cell: this.#context.cell }, wantedRunners(load))
    }
  }

  async #dropDays(): Promise<void> {
    const { partitions, retentionDays, logger } = this.#context
    const dropped = await partitions.retire(Date.now(), retentionDays)
    if (dropped.length === 0) return
    logger.info({ tables: dropped }, 'dropped what is past retention')
    await this.recount()
  }

  /** What fails holds up nothing behind it. */
  async #retire(signal: AbortSignal): Promise<void> {
    const { hot, reads, retentionDays, peers } = this.#context
    const allOf = async (some: (batch: number) => Promise<number>, batch = 1000) => {
      while (!signal.aborted && (await some(batch)) >= batch) await new Promise(setImmediate)
    }
    const steps = [
      () => this.#dropDays(),
      () => peers.sweep(),
      () => forgetSessions(reads),
      () => allOf((batch) => forgetCallbacks(reads, retentionDays, batch)),
      () => forgetDatabaseBytes(reads, retentionDays),
      () => allOf((batch) => forgetRunCounts(reads, retentionDays, batch)),
      () => allOf((batch) => forgetRefusals(reads, retentionDays, batch)),
      () => allOf((batch) => removeExpiredKeys(reads, batch)),
      // By keys alone, else all executions may be read for it; few, as each is looked for in each day that is kept.
      () => allOf((batch) => forgetDeletedProcesses(hot, retentionDays, batch), 50),
    ]
    const failures: unknown[] = []
    for (const step of steps) await step().catch((error: unknown) => failures.push(error))
    if (failures.length > 0)
      throw failures.length === 1 ? failures[0] : new AggregateError(failures, 'several removals failed')
  }
}
