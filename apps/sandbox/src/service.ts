import { AuditRelay } from '@automation/audit'
import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import { SandboxRouteService, SandboxService } from '@automation/contract/sandbox/v1/sandbox'
import { SealingService } from '@automation/contract/sandbox/v1/sealing'
import { TeamChangeService } from '@automation/contract/sandbox/v1/team_change'
import { TeamRemovalService } from '@automation/contract/sandbox/v1/team_removal'
import { SecretBox, teamChangeHandlers } from '@automation/database'
import { asService, ownContext, served } from '@automation/rpc'
import { Periodic, TeamLimitRows, type Part, type PartContext } from '@automation/service'
import type { SandboxConfig } from './config.ts'
import { grpcDaemons } from './drivers/daemons.ts'
import type { Driver } from './drivers/driver.ts'
import { KubernetesDriver } from './drivers/kubernetes/kubernetes-driver.ts'
import { LocalDriver } from './drivers/local/local-driver.ts'
import { Reconciler } from './reconciler.ts'
import { sandboxMetrics } from './metrics.ts'
import { Routes } from './traffic-routes.ts'
import { routeService, sandboxService } from './rpc/sandbox-service.ts'
import { teamRemovalService } from './rpc/team-removal-service.ts'
import { openRunnerPods, type RunnerPool } from './runner-pods/pool.ts'
import { Sandboxes } from './sandboxes.ts'
import { removeOld } from './store/changes.ts'
import { sandboxResealing } from './store/sealed-tables.ts'
import { Store } from './store/store.ts'

export { readSandboxConfig, type SandboxConfig } from './config.ts'
export { sandboxSchema } from './store/store.ts'

const removeEveryMs = 3_600_000
const catalogPatienceMs = 1000

/** Sandboxes: made on demand, ended at their deadline, and where their traffic goes. Asks execution which
 * runner pods are needed, where those are made on demand, and brings audit records to the catalog. */
export function createSandboxes(config: SandboxConfig, context: PartContext): Part {
  return createSandboxesOn(driverOf(config, context), config, context)
}

function driverOf(config: SandboxConfig, { logger }: PartContext): Driver {
  const { driver, local, kubernetes, catalogue, encryptionKeys, startTimeoutMs } = config
  if (driver === 'local') return new LocalDriver({ config: local, daemons: grpcDaemons, logger })
  const options = { config: kubernetes, catalogue, encryptionKeys, startTimeoutMs, daemons: grpcDaemons, logger }
  return new KubernetesDriver(options)
}

/** The same with another driver. */
export function createSandboxesOn(driver: Driver, config: SandboxConfig, context: PartContext): Part {
  const { neighbours, logger, metrics } = context
  const store = new Store(config.databaseUrl, context, { poolSize: 6, migrates: true })
  // On its own connections, so that no traffic of sandboxes holds up their deadlines and kills.
  const routed = new Store(config.databaseUrl, context, { poolSize: 3, migrates: false, poolName: 'routes' })
  const box = new SecretBox(config.encryptionKeys)
  const resealing = sandboxResealing(store, box, context)
  const measures = sandboxMetrics(metrics, store, driver)
  const { startTimeoutMs } = config
  const reconciler = new Reconciler({ store, driver, startTimeoutMs, counted: measures.counted, logger })
  const teams = neighbours.client(TeamLimitService)
  const limitRows = new TeamLimitRows(logger, (knownRevision) =>
    teams.listTeamLimits({ knownRevision }, ownContext(asService('sandbox'), 5000)),
  )
  const maxOf = (team: string) => limitRows.of(team, 'sandboxes', config.teamMaxSandboxes)
  const requireActive = (team: string) => limitRows.requireActive(team)
  // Those that run go on being used while the catalog is away from the start on.
  const mayBeUsed = (team: string) => {
    if (limitRows.isKnown) requireActive(team)
  }
  const sandboxes = new Sandboxes({ config, store, box, reconciler, maxOf, requireActive })
  const reconciling = new Periodic('comparing sandboxes', config.reconcileEveryMs, logger, async () => {
    measures.held(await reconciler.reconcile())
  })
  const upkeep = [
    new Periodic('ending sandboxes in time', config.deadlinesEveryMs, logger, () => reconciler.lookAtDeadlines()),
    reconciling,
    new Periodic('measuring sandboxes', config.reconcileEveryMs, logger, () => measures.measure()),
    new Periodic('removing old sandboxes', removeEveryMs, logger, () => removeOld(store, config.retentionDays)),
  ]
  const query: Store['query'] = (statement) => store.query(statement)
  const audit = new AuditRelay({ service: 'sandbox', query, neighbours, metrics, logger })
  const stopping = new AbortController()
  let runnerPods: RunnerPool | undefined
  const removeRunnerPods = async (team: string) => (await runnerPods?.removeOf(team)) ?? 0

  return {
    name: 'sandbox',
    serves: [
      served(SandboxService, sandboxService({ sandboxes, store, box, config, maxOf })),
      served(SandboxRouteService, routeService(new Routes(routed, box, mayBeUsed))),
      served(TeamChangeService, teamChangeHandlers(query)),
      served(TeamRemovalService, teamRemovalService(store, reconciler, removeRunnerPods)),
      served(SealingService, resealing.handlers),
    ],
    async start() {
      await store.open(stopping.signal)
      await routed.open(stopping.signal)
      await resealing.requireKnownKeys()
      await driver.start({ ended: (id, reason) => void reconciler.endedByItself(id, reason) })
      await reconciler.takeOver()
      for (const periodic of [...upkeep, resealing]) periodic.start()
      audit.start()
      await limitRows.start(catalogPatienceMs)
      reconciling.soon()
      if (config.runnerPods === undefined) return
      runnerPods = await openRunnerPods(config.runnerPods, store, context, {
        mostOf: (team) => limitRows.find(team, 'runners'),
      })
      runnerPods.start()
    },
    async stop(graceMs) {
      stopping.abort()
      await Promise.all([...upkeep, resealing].map((periodic) => periodic.stop()))
      await runnerPods?.stop()
      await sandboxes.close()
      await reconciler.close(graceMs)
      await audit.stop()
      await limitRows.stop()
      await Promise.all([store.close(), routed.close()])
    },
    async ready() {
      const pool = runnerPods === undefined ? [] : [runnerPods.check()]
      return [await store.check(), ...(await driver.ready()), ...pool]
    },
  }
}

/** What an operator may do with stored keys of sandboxes while the sandbox service does not run. */
export function createSandboxSealing(
  { databaseUrl, encryptionKeys }: Pick<SandboxConfig, 'databaseUrl' | 'encryptionKeys'>,
  context: Pick<PartContext, 'logger' | 'metrics'>,
): Part {
  const store = new Store(databaseUrl, context, { poolSize: 1, migrates: true })
  const resealing = sandboxResealing(store, new SecretBox(encryptionKeys), context)
  const stopping = new AbortController()
  return {
    name: 'sandbox',
    serves: [served(SealingService, resealing.handlers)],
    start: () => store.open(stopping.signal),
    async stop() {
      stopping.abort()
      await store.close()
    },
    async ready() {
      return [await store.check()]
    },
  }
}
