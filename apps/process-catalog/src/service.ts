import { AuditService } from '@automation/contract/audit/v1/audit'
import { AliasService } from '@automation/contract/catalog/v1/alias'
import { CodeService } from '@automation/contract/catalog/v1/code'
import { DependencyService } from '@automation/contract/catalog/v1/dependency'
import { ModuleService } from '@automation/contract/catalog/v1/module'
import { ProcessService } from '@automation/contract/catalog/v1/process'
import { ReferenceService, ResolveService } from '@automation/contract/catalog/v1/resolve'
import { SealingService } from '@automation/contract/catalog/v1/sealing'
import { SessionService } from '@automation/contract/catalog/v1/session'
import { TeamChangeService } from '@automation/contract/catalog/v1/team_change'
import { SourceService } from '@automation/contract/catalog/v1/source'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { TeamRemovalService } from '@automation/contract/catalog/v1/team_removal'
import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import { TokenService } from '@automation/contract/catalog/v1/token'
import { VariableService } from '@automation/contract/catalog/v1/variable'
import { VersionService } from '@automation/contract/catalog/v1/version'
import { ExecutionService } from '@automation/contract/execution/v1/execution'
import { InstallService } from '@automation/contract/execution/v1/install'
import { PackageSetService } from '@automation/contract/storage/v1/package_set'
import { ScheduleEffectService, ScheduleUseService } from '@automation/contract/schedule/v1/schedule'
import { SecretBox, teamChangeHandlers } from '@automation/database'
import { served } from '@automation/rpc'
import { Periodic, type Part, type PartContext } from '@automation/service'
import { AuditTrail } from './audit-trail.ts'
import { Calls } from './calls.ts'
import type { Catalog } from './catalog.ts'
import { Checks } from './checks/checks.ts'
import type { CatalogConfig } from './config.ts'
import { CutOffDeletions, forgetVersions } from './processes/deletion.ts'
import { endUses } from './processes/code-processes.ts'
import { Effects } from './effects.ts'
import { ExchangeRecords } from './access/exchange-records.ts'
import { ensureFirstTeam } from './teams/first-team.ts'
import { Installs, keptSets, measureInstalls } from './dependencies/installs.ts'
import { catalogMetrics } from './metrics.ts'
import { aliasHandlers } from './rpc/aliases.ts'
import { auditHandlers } from './rpc/audit.ts'
import { codeHandlers } from './rpc/code.ts'
import { dependencyHandlers } from './rpc/dependencies.ts'
import { moduleHandlers } from './rpc/modules.ts'
import { processHandlers } from './rpc/processes.ts'
import { referenceHandlers, resolveHandlers } from './rpc/resolve.ts'
import { sessionHandlers } from './rpc/sessions.ts'
import { sourceHandlers } from './rpc/sources.ts'
import { teamLimitHandlers } from './rpc/team-limits.ts'
import { teamRemovalHandlers } from './rpc/team-removal.ts'
import { teamHandlers } from './rpc/teams.ts'
import { tokenHandlers } from './rpc/tokens.ts'
import { variableHandlers } from './rpc/variables.ts'
import { versionHandlers } from './rpc/versions.ts'
import { SigningKeys } from './access/signing-keys.ts'
import { revisionsOf } from './store/run-spec.ts'
import { catalogResealing } from './store/sealed-tables.ts'
import { describeRecords } from './store/described.ts'
import { removeEndedSessions } from './store/sessions.ts'
import { Store } from './store/store.ts'
import { readImports } from './store/unread-imports.ts'

export { readCatalogConfig, type CatalogConfig } from './config.ts'
export { readFirstTeam } from './teams/first-team.ts'
export { catalogSchema } from './store/store.ts'

/**
 * The process catalog: processes and modules with versions and aliases, team variables, teams, API tokens, what a run needs to
 * know of them, and the audit records of all services. Calls `ScheduleEffectService` and `ExecutionService` when a process
 * is deleted, the former also of new names and zones, `ScheduleUseService` before versions and aliases are, `InstallService`
 * for dependencies, and `PackageSetService` for the sets that are in use.
 */
export function createCatalog(config: CatalogConfig, { neighbours, logger, metrics }: PartContext): Part {
  const store = new Store(config, { logger, metrics })
  const box = new SecretBox(config.encryptionKeys)
  const resealing = catalogResealing(store, box, { logger, metrics })
  const keys = new SigningKeys(store, box, config.accessTokenTtlS)
  const checks = new Checks(config.python)
  const revisions = revisionsOf(store)
  const executions = neighbours.client(ExecutionService)
  const installs = neighbours.client(InstallService)
  const packageSets = neighbours.client(PackageSetService)
  const measures = catalogMetrics(metrics)
  const monthsAhead = measures.auditMonthsAhead
  const auditTrail = new AuditTrail({ store, retentionDays: config.auditRetentionDays, monthsAhead, logger })
  const exchanges = new ExchangeRecords(store, measures.exchangeRecords, logger)
  const schedules = neighbours.client(ScheduleEffectService)
  const scheduleUses = neighbours.client(ScheduleUseService)
  const effects = new Effects({ store, schedules, logger })
  const neighboured = { executions, installs, packageSets, schedules, scheduleUses, effects }
  const catalog: Catalog = {
    config,
    store,
    box,
    checks,
    keys,
    revisions,
    auditTrail,
    exchanges,
    ...neighboured,
    logger,
  }

  const { installTimeoutMs } = config.dependencies

  const {
    deletionsEveryMs,
    effectsEveryMs,
    keysEveryMs,
    installsEveryMs,
    setsEveryMs,
    auditEveryMs,
    usesEveryMs,
    measureEveryMs,
  } = config.upkeep
  const advancing = new Installs({ store, installs, installTimeoutMs, logger })
  const deletions = new CutOffDeletions(catalog)
  const describing = new Periodic('describing records', keysEveryMs, logger, () => describeRecords(store, logger))
  const upkeep = [
    new Periodic('finishing deletions', deletionsEveryMs, logger, () => deletions.resume()),
    new Periodic('telling the scheduler', effectsEveryMs, logger, () => effects.sweep()),
    new Periodic('installing dependencies', installsEveryMs, logger, () => advancing.advance()),
    new Periodic('measuring installs', measureEveryMs, logger, () => measureInstalls(store, measures)),
    new Periodic('ending uses of processes', usesEveryMs, logger, () => endUses(catalog)),
    new Periodic('keeping sets of packages', setsEveryMs, logger, keptSets(store, neighbours, logger)),
    new Periodic('preparing audit records', auditEveryMs, logger, () => auditTrail.prepare()),
    new Periodic('dropping audit records', auditEveryMs, logger, () => auditTrail.retire()),
    new Periodic('reading imports', keysEveryMs, logger, () => readImports(store, checks)),
    describing,
    new Periodic('forgetting deleted versions', keysEveryMs, logger, () =>
      forgetVersions(store, neighbours.inCells(ExecutionService)),
    ),
    new Periodic('forgetting sessions', keysEveryMs, logger, () => removeEndedSessions(store)),
    new Periodic('rotating keys', keysEveryMs, logger, () => keys.upkeep(config.signingKeyRotationDays)),
  ]
  const calls = new Calls()
  const stopping = new AbortController()

  return {
    name: 'process-catalog',
    serves: [
      served(ProcessService, processHandlers(catalog)),
      served(ModuleService, moduleHandlers(catalog)),
      served(VersionService, versionHandlers(catalog)),
      served(AliasService, aliasHandlers(catalog)),
      served(VariableService, variableHandlers(catalog)),
      served(CodeService, codeHandlers(catalog)),
      served(DependencyService, dependencyHandlers(catalog)),
      served(SourceService, sourceHandlers(catalog)),
      served(TeamService, teamHandlers(catalog)),
      served(TeamLimitService, teamLimitHandlers(catalog)),
      served(TeamRemovalService, teamRemovalHandlers({ store })),
      served(TokenService, tokenHandlers(catalog)),
      served(SessionService, sessionHandlers(catalog)),
      served(ResolveService, resolveHandlers(catalog)),
      served(ReferenceService, referenceHandlers(catalog)),
      served(AuditService, auditHandlers(catalog)),
      served(
        TeamChangeService,
        teamChangeHandlers((statement) => store.statement(statement)),
      ),
      served(SealingService, resealing.handlers),
    ].map((service) => calls.counted(service)),
    async start() {
      await store.open(stopping.signal)
      await auditTrail.prepare()
      await resealing.requireKnownKeys()
      await keys.ensure()
      await keys.upkeep(config.signingKeyRotationDays)
      await readImports(store, checks)
      if (config.firstTeam !== undefined) await ensureFirstTeam(store, config.firstTeam, logger)
      for (const periodic of [...upkeep, resealing]) periodic.start()
      describing.soon()
    },
    async stop(graceMs) {
      stopping.abort()
      await calls.ended(graceMs)
      await Promise.all([...upkeep, resealing].map((periodic) => periodic.stop()))
      await exchanges.close()
      await checks.close()
      await store.close()
    },
    async ready() {
      return [await store.check()]
    },
  }
}
