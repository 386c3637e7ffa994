import { runnerLost, serviceStopped } from '@automation/contract/installs'
import { untilReachable } from '@automation/database'
import { atMost, type Logger } from '@automation/service'
import type { Engine } from './engine.ts'
import { executionSchema } from './store/pools.ts'

interface FirstStepsOptions {
  engine: Engine
  /** No other replica is there: what is RUNNING was a former process's. */
  exclusive: boolean
  /** Names of those that read the events. */
  readers: string[]
  logger: Logger
  signal: AbortSignal
}

/**
 * Makes true in the database what the first call relies on. Where that is lost meanwhile it begins anew, until `signal`
 * is aborted: then it rejects.
 */
export async function takeFirstSteps(options: FirstStepsOptions): Promise<void> {
  const { schema } = executionSchema
  await untilReachable({ ...options, schema }, () => steps(options))
}

async function steps({ engine, exclusive, readers }: FirstStepsOptions): Promise<void> {
  await engine.peers.look()
  await engine.knownPools.look()
  await engine.upkeep.lookAtMoves()
  await engine.upkeep.keepPartitions()
  // From the first run on, nothing is missed.
  await engine.outbox.register(readers)
  if (exclusive) await engine.reaper.endAll(`${runnerLost}: the service was restarted while it ran`)
  await engine.upkeep.recount()
}

/** What is RUNNING is assigned, unless the database is away for longer. */
const assignedMs = 10_000

/**
 * Begins nothing more, but for runs of runs that go on. Once none does, whoever still waits does so for what is queued, and
 * is told that the replica stops.
 */
export async function quiesceEngine({ admission, claims, starts, runners, waiters }: Engine): Promise<void> {
  admission.stop('from runs')
  await atMost(assignedMs, Promise.all([claims.quiesce(), starts.idle()]))
  await untilNoneRuns(runners, () => waiters.abandoned)
  waiters.abandon()
}

/** Until no run is on here, or `isOver`. */
async function untilNoneRuns(runners: Engine['runners'], isOver: () => boolean): Promise<void> {
  while (runners.activeIds.length > 0 && !isOver()) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** What is on its way into the database gets this long beyond the grace time of the runs. */
const writesMs = 2000

interface StopOptions {
  /** No other replica could take over what runs. */
  exclusive: boolean
  graceMs: number
  closeEvents(): Promise<unknown>
  logger: Logger
}

/**
 * Ends a replica: nothing new, the runs that it gave out may finish within `graceMs`, then those that no other replica
 * could take over end as ERROR; callers that still wait are answered; nothing is left hanging.
 */
export async function stopEngine(engine: Engine, options: StopOptions): Promise<void> {
  const { exclusive, graceMs, closeEvents, logger } = options
  const { admission, claims, starts, ends, runners, waiters, watches, forced, peers, streams, upkeep } = engine
  const { callbacks, errorHandlers, audit, limitRows, teamEvents } = engine
  admission.stop()
  streams.drain()
  const notified = atMost(writesMs, peers.stopping())
  watches.close()
  teamEvents.close()
  const end = performance.now() + graceMs
  // A run that is RUNNING already can only be assigned; while others go on it may be so later, too.
  const assigned = Promise.all([claims.stop(), starts.idle()])
  await atMost(Math.max(writesMs, Math.min(graceMs, assignedMs)), assigned)
  await untilNoneRuns(runners, () => performance.now() >= end)
  await notified
  if (runners.activeIds.length > 0 && (exclusive || peers.alone)) {
    const unsaid = (error: unknown) => logger.warn({ err: error }, 'what still ran was not ended')
    await atMost(writesMs, forced.fail(runners.activeIds, serviceStopped).catch(unsaid))
  }
  waiters.abandon()
  await atMost(writesMs, ends.idle())
  streams.close()
  const background = [upkeep, callbacks, errorHandlers, audit, limitRows].map((each) => each.stop())
  await atMost(writesMs, Promise.all([...background, closeEvents()]))
  await atMost(writesMs, engine.refusals.close())
  await atMost(writesMs, peers.leave())
  engine.giveUp.abort()
  await Promise.all([engine.gate.close(), engine.parametersCheck.close()])
  await atMost(writesMs, engine.pools.close())
}
