import { AuditRelay } from '@automation/audit'
import { ReferenceService } from '@automation/contract/catalog/v1/resolve'
import { FiringService } from '@automation/contract/execution/v1/firing'
import { ScheduleEffectService, ScheduleService, ScheduleUseService } from '@automation/contract/schedule/v1/schedule'
import { TeamChangeService } from '@automation/contract/schedule/v1/team_change'
import { TeamRemovalService } from '@automation/contract/schedule/v1/team_removal'
import { teamChangeHandlers } from '@automation/database'
import { served } from '@automation/rpc'
import { Periodic, type Part, type PartContext } from '@automation/service'
import type { SchedulerConfig } from './config.ts'
import { Firer } from './firing/firer.ts'
import { Pulse } from './firing/pulse.ts'
import { FiringLists } from './firing-lists.ts'
import { schedulerMetrics } from './metrics.ts'
import { References } from './references.ts'
import { RunByHand } from './run-by-hand.ts'
import { effectService, scheduleService, useService } from './rpc/schedule-service.ts'
import { teamRemovalService } from './rpc/team-removal-service.ts'
import { Schedules } from './schedules.ts'
import { countOpenFirings, removeOldFirings } from './store/firings.ts'
import { forgetProcesses } from './store/processes.ts'
import { removeSomeFirings } from './store/removal.ts'
import { Store } from './store/store.ts'
import { followClock } from './store/zones.ts'

export { schedulerSchema } from './store/store.ts'
export { readSchedulerConfig, type SchedulerConfig } from './config.ts'

const cleanEveryMs = 600_000
const cleanAtOnce = 1000
const removeEveryMs = 10_000
const measureEveryMs = 5000
const clockEveryMs = 60_000

/**
 * The scheduler: keeps schedules, and has execution start their runs when they are due. Brings audit records to the
 * catalog.
 */
export function createScheduler(config: SchedulerConfig, context: PartContext): Part {
  const { neighbours, logger, tracer } = context
  const executions = neighbours.client(FiringService)
  const store = new Store(config.databaseUrl, context)
  const metrics = schedulerMetrics(context.metrics)
  const pulse = new Pulse(store, new Firer({ store, executions, metrics, logger, tracer }), logger)
  const schedules = new Schedules({
    store,
    executions,
    teamMaxSchedules: config.teamMaxSchedules,
    changed: () => pulse.soon(),
    deleted: () => removing.soon(),
  })
  const references = new References(neighbours.client(ReferenceService), logger)
  const firings = new FiringLists(store, references)
  const byHand = new RunByHand(store, executions)
  const cleaning = new Periodic('removing old firings', cleanEveryMs, logger, async (signal) => {
    while (!signal.aborted && (await removeOldFirings(store, config.retentionDays, cleanAtOnce)) === cleanAtOnce);
  })
  const removing = new Periodic('removing what deletions leave', removeEveryMs, logger, async (signal) => {
    while (!signal.aborted && (await removeSomeFirings(store)) > 0);
    while (!signal.aborted && (await forgetProcesses(store, config.retentionDays, cleanAtOnce)) === cleanAtOnce);
  })
  const measuring = new Periodic('measuring open firings', measureEveryMs, logger, async () => {
    const { count, oldestMs } = await countOpenFirings(store)
    metrics.open(count, oldestMs)
  })
  const following = new Periodic('following the clock', clockEveryMs, logger, async (signal) => {
    const followed = await followClock(store, signal)
    if (followed === undefined) return
    const { moved, faults } = followed
    logger.warn({ moved }, 'the clock of the database was put back: schedules and firings follow it')
    for (const [team, error] of faults) logger.warn({ err: error, team }, 'its schedules do not follow the clock')
    pulse.soon()
  })
  const query: Store['query'] = (statement) => store.query(statement)
  const audit = new AuditRelay({ service: 'scheduler', query, neighbours, metrics: context.metrics, logger })
  const stopping = new AbortController()

  return {
    name: 'scheduler',
    serves: [
      served(ScheduleService, scheduleService({ schedules, references, firings, byHand })),
      served(
        ScheduleEffectService,
        effectService(store, () => removing.soon()),
      ),
      served(ScheduleUseService, useService(store)),
      served(TeamChangeService, teamChangeHandlers(query)),
      served(TeamRemovalService, teamRemovalService(store)),
    ],
    async start() {
      await store.open(stopping.signal)
      pulse.start()
      cleaning.start()
      removing.start()
      // What a replica has left that ended.
      removing.soon()
      measuring.start()
      following.start()
      following.soon()
      audit.start()
    },
    quiesce: () => pulse.quiesce(),
    async stop() {
      stopping.abort()
      await Promise.all([pulse, cleaning, removing, measuring, following, audit].map((each) => each.stop()))
      await store.close()
    },
    async ready() {
      return [await store.check()]
    },
  }
}
