import { randomUUID } from 'node:crypto'
import { AuditRelay } from '@automation/audit'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import type { FedEventBus } from '@automation/events'
import { asService, ownContext } from '@automation/rpc'
import { TeamLimitRows, type PartContext } from '@automation/service'
import { AgentPools } from './read/agent-pools.ts'
import { Admission } from './accept/admission.ts'
import { Claims } from './dispatch/claims.ts'
import type { ExecutionConfig } from './config.ts'
import { Callbacks } from './react/callbacks.ts'
import { Backlog } from './dispatch/backlog.ts'
import { RunnerCapacity, UnservedTeams } from './dispatch/runner-capacity.ts'
import { Runners } from './dispatch/runners.ts'
import { Egress } from './react/egress.ts'
import { Ends } from './end/ends.ts'
import { ErrorHandlers } from './react/error-handlers.ts'
import { KnownPools } from './dispatch/known-pools.ts'
import { PoolTokens } from './dispatch/pool-tokens.ts'
import { Assignments } from './dispatch/assignments.ts'
import { HeldRuns } from './dispatch/held-runs.ts'
import { KilledRuns } from './end/killed-runs.ts'
import { ForcedEnds } from './end/forced-ends.ts'
import { DatabaseBytesLimit } from './accept/database-bytes-limit.ts'
import { RunLimits } from './run-limits.ts'
import { LogBounds } from './dispatch/log-bounds.ts'
import { Logs } from './dispatch/log-writer.ts'
import type { Metrics } from './metrics.ts'
import { NestedRuns } from './dispatch/nested-runs.ts'
import { Nesting } from './dispatch/nesting.ts'
import { Outcomes, Waiters } from './end/waiters.ts'
import { ParametersCheck } from './accept/parameters-check.ts'
import { Peers } from './dispatch/peers.ts'
import { ProcessDeletion } from './end/process-deletion.ts'
import { ProcessSummaries } from './read/process-summaries.ts'
import { TeamRemoval } from './end/team-removal.ts'
import { QueueHints } from './dispatch/queue-hints.ts'
import { Reaper } from './end/reaper.ts'
import { Records } from './read/records.ts'
import { RunTraces } from './run-traces.ts'
import { RunTokens } from '@automation/rpc/run-token'
import { Slots } from './dispatch/slots.ts'
import { Signals } from './signals.ts'
import { Sessions } from './dispatch/sessions.ts'
import { Specs, specShares } from './accept/specs.ts'
import { RunCounter } from './react/run-counter.ts'
import { StartRecords } from './react/start-records.ts'
import { Statistics } from './read/statistics.ts'
import { Starts } from './accept/starts.ts'
import { TimelineOutbox } from './store/outbox.ts'
import { Partitions } from './store/partitions.ts'
import type { Pools } from './store/pools.ts'
import { TeamCapacity } from './read/team-capacity.ts'
import { TeamEvents } from './read/team-events.ts'
import { Upkeep } from './upkeep.ts'
import { TeamMoves } from './move/team-moves.ts'
import { WaitingRuns } from './read/waiting.ts'
import { Watches } from './read/watches.ts'
import { WebhookGate } from './accept/webhook-gate.ts'
import { WebhookRefusals } from './accept/webhook-refusals.ts'
import { RunnerStreams } from './dispatch/runner-streams.ts'

/** Of the specs that a runner keeps for one replica. */
const runnerSpecsBytes = 64 * 1024 * 1024

export type Engine = ReturnType<typeof compose>

/** All that one replica of execution is made of, wired by hand. */
export function compose(
  config: ExecutionConfig,
  { neighbours, logger, metrics: registry, tracer, address }: PartContext,
  metrics: Metrics,
  pools: Pools,
  events: Pick<FedEventBus, 'wake' | 'backlogs' | 'readers'>,
) {
  /** Aborted at the very end: what can't be written then is left to the others. */
  const giveUp = new AbortController()
  const { signal } = giveUp
  const replicaId = randomUUID()
  const { batches, hot, heavy, reads } = pools
  const teams = neighbours.client(TeamLimitService)
  const limitRows = new TeamLimitRows(logger, (knownRevision) =>
    teams.listTeamLimits({ knownRevision }, ownContext(asService('execution'), 5000)),
  )
  const knownPools = new KnownPools({ pool: reads, shared: config.pools, logger })
  const databaseBytesLimit = new DatabaseBytesLimit(reads, limitRows, config.teamMaxDatabaseBytes)
  const limits = new RunLimits(config, knownPools, limitRows, databaseBytesLimit)
  const leaseMs = config.runnerLeaseMs

  const signals = new Signals()
  signals.changed.on(() => events.wake())
  const traces = new RunTraces(tracer)
  const partitions = new Partitions(reads, config.partitionDays)
  const waiters = new Waiters()
  const catalogTeams = neighbours.client(TeamService)
  const teamMoves = new TeamMoves({ pool: reads, cell: config.cell, teams: catalogTeams })
  const movesKnownUntil = () => teamMoves.knownUntil
  const peers = new Peers({ pool: hot, movesKnownUntil, neighbours, replicaId, address, metrics, logger })

  // What a run is, and where it may run.
  const kept = specShares(config.specCacheBytes, config.runSpecMaxBytes)
  const specs = new Specs(neighbours, { ...kept, held: metrics.specCache })
  const tokens = new RunTokens(config.internalKey)
  const backlog = new Backlog()
  const slots = new Slots((team) => limits.runners(team))
  const runners = new Runners(specs, tokens, traces, {
    ...specShares(runnerSpecsBytes, config.runSpecMaxBytes),
    slots,
  })
  const capacity = new RunnerCapacity(runners.slots)
  const unserved = new UnservedTeams(backlog, runners.slots, capacity, limits, logger)

  // How it ends, and who gets to know.
  const outcomes = new Outcomes(reads, waiters, runners)
  const ending = { partitions, runners, waiters, peers, metrics, traces, signals }
  const ends = new Ends({ ...ending, pool: batches, replicaId, outcomes, logger, signal })
  const forced = new ForcedEnds({ ...ending, pool: hot })
  const deletion = new ProcessDeletion(reads, forced, events, signals)
  const teamRemoval = new TeamRemoval(reads, forced, events)
  const reaper = new Reaper(hot, replicaId, forced, leaseMs, logger)

  // How it is accepted.
  const sessions = new Sessions(hot, forced, leaseMs)
  const assignments = new Assignments({ runners, sessions, logger })
  const nesting = new Nesting(limits)
  const starting = { teamMoves, runners, assignments, capacity, backlog, limits, nesting, replicaId, partitions }
  const starts = new Starts({ ...starting, signals, metrics, batches, pool: hot, heavy, logger, signal })
  const refusals = new WebhookRefusals(reads, metrics, logger)
  const gate = new WebhookGate(specs, refusals)
  const parametersCheck = new ParametersCheck()
  const egress = new Egress(config.egressAllow)
  const checking = { egress, specs, gate, refusals, parametersCheck }
  const admission = new Admission({ pool: hot, config, ...checking, limits, knownPools, starts, waiters })

  // How it comes to a runner.
  const nested = new NestedRuns({ pool: hot, admission, outcomes, runners, limits, nesting, logger, signals })
  const claiming = { runners, assignments, backlog, specs, forced, nested, nesting, unserved, limits, logger, signals }
  const claims = new Claims({ ...claiming, metrics, pool: batches, specMaxBytes: config.runSpecMaxBytes })
  const queueHints = new QueueHints({ peers, backlog, claims, runners, signals })
  const held = new HeldRuns({ pool: hot, specs, forced, backlog, logger, signals })
  const logs = new Logs(pools.logs, partitions, metrics, logger, signal, signals)
  const killedRuns = new KilledRuns(pools.events, partitions, logger)
  const poolTokens = new PoolTokens(hot)
  const { returnValueMaxBytes, retentionDays } = config
  const hearing = {
    pool: hot,
    sessions,
    runners,
    signals,
    ends,
    killedRuns,
    logs,
    logBounds: new LogBounds(hot, config, logger),
  }
  const streams = new RunnerStreams({ ...hearing, returnValueMaxBytes, logger })

  // Who reads it, and what follows from it.
  const records = new Records(reads, config.waitingStatus)
  const counter = new RunCounter(pools.events, logger)
  const statistics = new Statistics(reads, counter)
  const processSummaries = new ProcessSummaries(reads, counter, config.waitingStatus)
  const watches = new Watches(reads, signals)
  const teamEvents = new TeamEvents(reads, pools.events, logger)
  const agentPools = new AgentPools(reads, runners.slots, knownPools)
  const waitingRuns = new WaitingRuns({ reads, limits, nesting, capacity, agentPools })
  const teamCapacity = new TeamCapacity(reads, limits, databaseBytesLimit, runners.slots)
  const outbox = new TimelineOutbox(pools.events, traces, logger)
  const startRecords = new StartRecords(reads, partitions, neighbours)
  const audit = new AuditRelay({ service: 'execution', query: reads.rows, neighbours, metrics: registry, logger })
  const callbacks = new Callbacks({ pool: reads, config, egress, metrics, traces, logger, signals })
  const reacting = { neighbours, admission, retentionDays, metrics, logger, signals }
  const errorHandlers = new ErrorHandlers({ ...reacting, patienceMs: config.errorHandlerPatienceMs, pool: hot })

  const looked = {
    backlog,
    claims,
    held,
    nested,
    runners,
    waiters,
    outcomes,
    teamMoves,
    watches,
    teamEvents,
    counter,
    reaper,
    sessions,
    deletion,
    peers,
  }
  const keeping = {
    hot,
    reads,
    partitions,
    retentionDays,
    leaseMs,
    knownPools,
    limits,
    databaseBytesLimit,
    metrics,
    logger,
  }
  const upkeep = new Upkeep({ ...looked, ...keeping, events, signals, cell: config.cell, measureMs: config.measureMs })

  return {
    ...{ pools, partitions, specs, tokens, waiters, runners, outcomes, forced, ends, starts, claims, sessions, reaper },
    ...{
      giveUp,
      peers,
      outbox,
      gate,
      refusals,
      parametersCheck,
      admission,
      nested,
      queueHints,
      records,
      deletion,
      teamRemoval,
      streams,
      upkeep,
    },
    teamMoves,
    watches,
    teamEvents,
    statistics,
    processSummaries,
    limits,
    limitRows,
    agentPools,
    knownPools,
    poolTokens,
    waitingRuns,
    teamCapacity,
    capacity,
    unserved,
    callbacks,
    startRecords,
    audit,
    errorHandlers,
  }
}
