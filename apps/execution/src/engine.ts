import { randomUUID } from 'node:crypto'
import { AuditRelay } from '@automation/audit'
import type { FedEventBus } from '@automation/events'
import type { Language } from '@automation/contract/common/v1/language'
import type { PartContext } from '@automation/service'
import type pg from 'pg'
import { Admission } from './accept/admission.ts'
import { Claims } from './dispatch/claims.ts'
import type { ExecutionConfig } from './config.ts'
import { Callbacks } from './react/callbacks.ts'
import { Backlog } from './dispatch/backlog.ts'
import { RunnerSupply } from './dispatch/runner-supply.ts'
import { Runners } from './dispatch/runners.ts'
import { UnservedTeams } from './dispatch/unserved-teams.ts'
import { Egress } from './react/egress.ts'
import { Ends } from './end/ends.ts'
import { ErrorHandlers } from './react/error-handlers.ts'
import { HeldRuns } from './dispatch/held-runs.ts'
import { ForcedEnds } from './end/forced-ends.ts'
import { Kills } from './end/kills.ts'
import { Logs } from './dispatch/log-writer.ts'
import type { Metrics } from './metrics.ts'
import { NestedRuns } from './dispatch/nested-runs.ts'
import { Outcomes } from './end/outcomes.ts'
import { ParametersCheck } from './accept/parameters-check.ts'
import { Peers } from './dispatch/peers.ts'
import { ProcessDeletion } from './end/process-deletion.ts'
import { Reaper } from './end/reaper.ts'
import { Records } from './read/records.ts'
import { RunTraces } from './run-traces.ts'
import { RunTokens } from '@automation/rpc/run-token'
import { Sessions } from './dispatch/sessions.ts'
import { specShares } from './accept/spec-size.ts'
import { Specs } from './accept/specs.ts'
import { StartRecords } from './react/start-records.ts'
import { Starts } from './accept/starts.ts'
import type { NewRun } from './store/new-run-columns.ts'
import { TimelineOutbox } from './store/outbox.ts'
import { Partitions } from './store/partitions.ts'
import type { Pools } from './store/pools.ts'
import { Upkeep } from './upkeep.ts'
import { Waiters } from './end/waiters.ts'
import { Watches } from './read/watches.ts'
import { WebhookGate } from './accept/webhook-gate.ts'
import { RunnerStreams } from './dispatch/runner-streams.ts'

/** Of the specs that a runner keeps for one replica. */
const runnerSpecsBytes = 64 * 1024 * 1024

export type Engine = ReturnType<typeof compose>

/** All that one replica of execution is made of, wired by hand. */
export function compose(
  config: ExecutionConfig,
  { neighbours, logger, metrics: registry, tracer }: PartContext,
  metrics: Metrics,
  pools: Pools,
  events: Pick<FedEventBus, 'wake' | 'backlogs' | 'readers'>,
) {
  /** Aborted at the very end: what can't be written then is left to the others. */
  const giveUp = new AbortController()
  const { signal } = giveUp
  const replicaId = randomUUID()
  const { batches, hot, reads } = pools
  const onePool = config.pools.length === 1
  const limits = { maxRunning: config.teamMaxRunning, maxQueued: config.teamMaxQueued, onePool }
  const leaseMs = config.runnerLeaseMs

  const partitions = new Partitions(reads, config.partitionDays)
  const kept = specShares(config.specCacheBytes, config.runSpecMaxBytes)
  const specs = new Specs(neighbours, { ...kept, held: metrics.specCache })
  const tokens = new RunTokens(config.internalKey)
  const waiters = new Waiters()
  const peers = new Peers(neighbours, logger)
  const backlog = new Backlog()
  const traces = new RunTraces(tracer)
  const runners = new Runners(specs, tokens, traces, specShares(runnerSpecsBytes, config.runSpecMaxBytes))
  const outcomes = new Outcomes(reads, waiters, runners)
  const watches = new Watches(reads)
  const supply = new RunnerSupply(runners.slots)
  const unserved = new UnservedTeams(backlog, runners.slots, supply, logger)

  const waits = (pool: string, team: string, language: Language) => {
    if (runners.slots.hasForRun(pool, team, language)) claims.look(pool)
    else unserved.look(pool)
    // What is free here may be kept for newcomers.
    peers.queued()
  }
  const queued = ({ pool, team, spec }: NewRun) => waits(pool, team, spec.language)
  const runnerSlotFree = (pool: string) => claims.look(pool)
  const makePartitions = () => upkeep.keepPartitions()
  const freed = (team: string) => {
    for (const pool of backlog.slotFreed(team)) claims.look(pool)
    nested.slotFreed(team)
  }
  const superseded = (id: string) =>
    void outcomes.look([id]).catch((error: unknown) => logger.warn({ err: error }, 'look'))

  const changed = (ids: string[] = []) => {
    events.wake()
    watches.wake(ids)
  }
  const common = { pool: hot, partitions, runners, waiters, peers, metrics, traces, freed, changed }
  const forced = new ForcedEnds(common)
  const ends = new Ends({ ...common, pool: batches, replicaId, logger, superseded, signal })
  const starting = { batches, pool: hot, runners, supply, backlog, limits, replicaId, metrics }
  const starts = new Starts({ ...starting, queued, runnerSlotFree, changed, makePartitions })
  const fail = (id: string, explanation: string) => forced.fail([id], explanation)
  const resumeFirst = () => nested.resumeAll()
  const { maxRunning } = limits
  const specMaxBytes = config.runSpecMaxBytes
  const claiming = { pool: batches, runners, backlog, specs, specMaxBytes, maxRunning, metrics, logger }
  const claims = new Claims({ ...claiming, fail, resumeFirst, changed })
  const held = new HeldRuns({ pool: hot, specs, forced, backlog, logger, queued: waits, changed })
  const logs = new Logs(pools.logs, partitions, metrics, logger, signal, (ids) => watches.wake(ids))
  const sessions = new Sessions(hot, forced, leaseMs)

  const gate = new WebhookGate(specs)
  const parametersCheck = new ParametersCheck()
  const egress = new Egress(config.egressAllow)
  const admission = new Admission({ pool: hot, config, egress, specs, gate, parametersCheck, starts, waiters })
  const nested = new NestedRuns({ pool: hot, admission, outcomes, runners, maxRunning, logger, freed })

  const outbox = new TimelineOutbox(pools.events, traces, logger)
  const records = new Records(reads, config.waitingStatus)
  const kills = new Kills(hot, forced)
  const deletion = new ProcessDeletion(
    reads,
    forced,
    () => [...events.readers],
    () => upkeep.sweepSoon(),
  )
  const reaper = new Reaper(hot, forced, leaseMs, logger)
  const { returnValueMaxBytes, retentionDays } = config
  const streams = new RunnerStreams({ sessions, runners, claims, ends, logs, returnValueMaxBytes, logger })
  const startRecords = new StartRecords(reads, partitions, neighbours)
  const query = async <R extends pg.QueryResultRow>(statement: pg.QueryConfig) => (await reads.query<R>(statement)).rows
  const audit = new AuditRelay({ service: 'execution', query, neighbours, metrics: registry, logger })
  const watched = (id: string) => watches.wake([id])
  const callbacks = new Callbacks({ pool: reads, config, egress, metrics, traces, logger, watched })
  const handling = { pool: hot, neighbours, admission, retentionDays, metrics, logger, watched }
  const errorHandlers = new ErrorHandlers(handling)
  const looked = { backlog, claims, held, nested, runners, waiters, outcomes, watches, reaper, sessions, deletion }
  const keeping = { hot, reads, partitions, retentionDays, leaseMs, pools: config.pools, metrics, logger }
  const upkeep = new Upkeep({ ...looked, ...keeping, events })

  return {
    ...{ pools, partitions, specs, tokens, waiters, runners, outcomes, forced, ends, starts, claims, sessions, reaper },
    ...{ giveUp, peers, outbox, gate, parametersCheck, admission, nested, records, kills, deletion, streams, upkeep },
    watches,
    supply,
    unserved,
    callbacks,
    startRecords,
    audit,
    errorHandlers,
  }
}
