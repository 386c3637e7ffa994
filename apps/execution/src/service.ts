import { ExecutionService, ReplicaService } from '@automation/contract/execution/v1/execution'
import { StatisticsService } from '@automation/contract/execution/v1/statistics'
import { FiringService } from '@automation/contract/execution/v1/firing'
import { TeamEventService } from '@automation/contract/execution/v1/team_event'
import { TeamMoveService } from '@automation/contract/execution/v1/team_move'
import { TeamRemovalService } from '@automation/contract/execution/v1/team_removal'
import { InstallService } from '@automation/contract/execution/v1/install'
import type { ExecutionEvent } from '@automation/contract/events/v1/execution_event'
import { RunService } from '@automation/contract/run/v1/run'
import { RunnerDemandService } from '@automation/contract/runner/v1/demand'
import { RunnerOperatorService } from '@automation/contract/execution/v1/runner_operator'
import { PoolTokenService, TeamPoolService } from '@automation/contract/execution/v1/team_pool'
import { RunnerService } from '@automation/contract/runner/v1/runner'
import { KafkaBus, OutboxBus, type EventBus, type FedEventBus, type Outbox } from '@automation/events'
import { served, type CallContext, type Handlers, type ServedService } from '@automation/rpc'
import type { Check, Part, PartContext } from '@automation/service'
import type { ExecutionConfig } from './config.ts'
import { compose, type Engine } from './engine.ts'
import { quiesceEngine, stopEngine, takeFirstSteps } from './lifecycle.ts'
import { executionMetrics } from './metrics.ts'
import { firingService } from './rpc/firing-service.ts'
import { installService } from './rpc/install-service.ts'
import { demandService } from './rpc/demand-service.ts'
import { runnerOperatorService } from './rpc/runner-operator-service.ts'
import { poolTokenService, teamPoolService } from './rpc/team-pool-service.ts'
import { executionService } from './rpc/execution-service.ts'
import { replicaService } from './rpc/replica-service.ts'
import { runService } from './rpc/run-service.ts'
import { statisticsService } from './rpc/statistics-service.ts'
import { teamEventService } from './rpc/team-event-service.ts'
import { teamMoveService } from './rpc/team-move-service.ts'
import { teamRemovalService } from './rpc/team-removal-service.ts'
import { runCountsReader } from './store/run-counts.ts'
import { runnerService } from './rpc/runner-service.ts'
import { errorHandlersReader, startRecordsReader } from './store/outbox.ts'
import { openPools } from './store/pools.ts'
import { stopping as stoppingFailure, unavailable } from '@automation/errors'
import type { TeamMoves } from './move/team-moves.ts'
import type { DescService } from '@bufbuild/protobuf'

export { readExecutionConfig, type ExecutionConfig } from './config.ts'
export { executionSchema } from './store/pools.ts'

const catalogPatienceMs = 1000

export interface ExecutionPart extends Part {
  /** Lifecycle events, for other parts of the same process; may be subscribed to before the start. */
  events: EventBus
}

/**
 * Execution: accepts runs, gives them to runners, and keeps what becomes of them. Calls `ResolveService` and
 * `TeamService`, and `ReplicaService` of the other replicas. Brings audit records to the catalog.
 */
export function createExecution(config: ExecutionConfig, context: PartContext): ExecutionPart {
  const metrics = executionMetrics(context.metrics, config.cell)
  const stopping = new AbortController()
  let running: ReturnType<typeof open> | undefined
  const outbox = outboxOf(() => running?.engine)
  const events = openBus(config, context, outbox)
  // At the outbox itself, whether there is a broker or not; a batch costs the same for few as for many.
  const starts = new OutboxBus({ outbox, logger: context.logger, batchMs: 500, batch: 1000 })
  // Events may come before the engine is there.
  const begun = Promise.withResolvers<Engine>()
  events.subscribe('callbacks', async (changes) => (await begun.promise).callbacks.take(changes))
  starts.subscribe(startRecordsReader, async (changes) => (await begun.promise).startRecords.take(changes))
  const fed = {
    get readers() {
      return [...events.readers, ...starts.readers, runCountsReader]
    },
    wake: () => {
      events.wake()
      starts.wake()
    },
    mark: () => events.mark(),
    backlogs: async () => {
      const counting = { consumer: runCountsReader, ...(await outbox.backlog(runCountsReader)) }
      return [...(await Promise.all([events.backlogs(), starts.backlogs()])).flat(), counting]
    },
  }
  const handleErrors = async (changes: ExecutionEvent[], signal: AbortSignal) =>
    (await begun.promise).errorHandlers.take(changes, signal)
  events.subscribe(errorHandlersReader, handleErrors, { batchMs: 250 })
  let stopped: Promise<void> | undefined
  let quiesced: Promise<void> | undefined

  function open(engine: Engine) {
    const { streams, sessions, waiters, runners, outcomes, watches, upkeep, admission, nested, tokens } = engine
    const { capacity, pools, knownPools, poolTokens, queueHints } = engine
    const { retentionDays } = config
    const moving = { pool: pools.reads, eventsPool: pools.events, retentionDays, events: fed, logger: context.logger }
    const demanding = { reads: pools.reads, capacity, knownPools, limits: engine.limits }
    return {
      engine,
      executions: executionService(engine),
      runners: runnerService(streams, sessions, poolTokens),
      replicas: replicaService(waiters, runners, outcomes, watches, queueHints, () => upkeep.lookAtQueue()),
      installs: installService(admission, engine.pools.reads, config.runTimeoutMaxMs),
      firings: firingService(admission, pools.reads),
      demand: demandService(demanding),
      runnerOperator: runnerOperatorService({ ...pools, capacity, knownPools }),
      teamPools: teamPoolService({ pool: pools.reads, knownPools, sessions, runners }),
      poolTokens: poolTokenService(poolTokens),
      statistics: statisticsService(engine.statistics, engine.processSummaries),
      teamEvents: teamEventService(engine.teamEvents),
      teamRemoval: teamRemovalService(engine.teamRemoval, runners),
      teamMoves: teamMoveService({ ...moving, partitions: engine.partitions, lookAtMoves: () => upkeep.lookAtMoves() }),
      runs: runService(admission, nested, tokens),
    }
  }

  const teamMoves = () => running?.engine.teamMoves
  /** Failure stopping once the database is closed. */
  const inTime = () => {
    if (running?.engine.giveUp.signal.aborted === true) throw stoppingFailure()
    return running
  }

  return {
    name: 'execution',
    events,
    serves: [
      late(ExecutionService, () => inTime()?.executions, teamMoves),
      late(RunnerService, () => inTime()?.runners),
      late(RunnerDemandService, () => inTime()?.demand),
      late(RunnerOperatorService, () => inTime()?.runnerOperator),
      late(TeamPoolService, () => inTime()?.teamPools),
      late(PoolTokenService, () => inTime()?.poolTokens),
      late(ReplicaService, () => inTime()?.replicas),
      late(InstallService, () => inTime()?.installs, teamMoves),
      late(FiringService, () => inTime()?.firings, teamMoves),
      late(StatisticsService, () => inTime()?.statistics, teamMoves),
      late(TeamEventService, () => inTime()?.teamEvents, teamMoves),
      late(TeamRemovalService, () => inTime()?.teamRemoval),
      late(TeamMoveService, () => inTime()?.teamMoves),
      late(RunService, () => inTime()?.runs),
    ],
    async start() {
      const pools = await openPools(config.databaseUrl, context, stopping.signal)
      const engine = compose(config, context, metrics, pools, fed)
      const { readers } = fed
      const { signal } = stopping
      await takeFirstSteps({ engine, exclusive: config.exclusive, readers, logger: context.logger, signal })
      // Else the queue of a suspended team would begin; while the catalog is away, nothing begins anyhow.
      await engine.limitRows.start(catalogPatienceMs)
      engine.upkeep.start()
      running = open(engine)
      engine.callbacks.start()
      engine.errorHandlers.start()
      engine.audit.start()
      begun.resolve(engine)
      events.wake()
    },
    quiesce() {
      if (running !== undefined) quiesced = quiesceEngine(running.engine)
    },
    async stop(graceMs) {
      stopping.abort()
      if (running === undefined) return
      const closeEvents = () => Promise.all([events.close(), starts.close()])
      const { exclusive } = config
      await (stopped ??= stopEngine(running.engine, { exclusive, graceMs, closeEvents, logger: context.logger }))
      await quiesced
    },
    ready: async () => [...(await checksOf(running?.engine)), events.check()],
  }
}

/** That of the engine, as soon as there is one. */
function outboxOf(engine: () => Engine | undefined): Outbox {
  return {
    lead: async (consumer) => engine()?.outbox.lead(consumer),
    backlog: async (consumer) => (await engine()?.outbox.backlog(consumer)) ?? { count: 0, oldestMs: 0 },
  }
}

function openBus(config: ExecutionConfig, { logger }: PartContext, outbox: Outbox): FedEventBus {
  return config.kafka === undefined
    ? new OutboxBus({ outbox, logger, batchMs: 50 })
    : new KafkaBus({ config: config.kafka, outbox, logger, connect: config.kafkaConnect })
}

async function checksOf(engine: Engine | undefined): Promise<Check[]> {
  if (engine === undefined) return [{ name: 'execution', ok: false, detail: 'starting' }]
  const { runners, upkeep, pools, unserved, peers } = engine
  const days = upkeep.partitionDays
  const slots = runners.streams.reduce((sum, stream) => sum + stream.slots, 0)
  const connected = `${runners.streams.length} connected, ${slots} slots`
  const detail = unserved.words === undefined ? connected : `${connected}; ${unserved.words}`
  return [
    { ...(await pools.check()), name: 'execution database' },
    { name: 'partitions', ok: days >= 1, detail: `for ${days} days ahead` },
    { name: 'runners', ok: true, detail },
    ...(peers.count === undefined ? [] : [{ name: 'replicas', ok: true, detail: `${peers.count} there` }]),
  ]
}

type Call = (request: unknown, context: CallContext) => unknown

/**
 * A service that is there before what it calls is: until then every call is `unavailable`. With `moves`, what is asked of a
 * team that has left the cell fails with team_moved, and its streams end so when it leaves.
 */
function late<S extends DescService>(
  service: S,
  handlers: () => Handlers<S> | undefined,
  moves: () => TeamMoves | undefined = () => undefined,
): ServedService<S> {
  const calls: Record<string, Call> = {}
  for (const { localName, methodKind } of service.methods) {
    calls[localName] = (request, context) => {
      const now = handlers() as Record<string, Call> | undefined
      if (now === undefined) throw unavailable('The service is not ready, try again')
      const call = now[localName]!
      const teamMoves = moves()
      if (teamMoves === undefined) return call(request, context)
      const { principal, requestId, traceparent, deadlineMs } = context
      const { team } = principal
      if (methodKind !== 'server_streaming') {
        teamMoves.requireHere(team)
        return call(request, context)
      }
      const within = (signal: AbortSignal) =>
        call(request, { principal, requestId, traceparent, deadlineMs, signal }) as AsyncIterable<unknown>
      return teamMoves.whileHere(team, context.signal, within)
    }
  }
  return served(service, calls as Handlers<S>)
}
