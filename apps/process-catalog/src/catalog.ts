import type { ExecutionService } from '@automation/contract/execution/v1/execution'
import type { InstallService } from '@automation/contract/execution/v1/install'
import type { ScheduleEffectService, ScheduleUseService } from '@automation/contract/schedule/v1/schedule'
import type { PackageSetService } from '@automation/contract/storage/v1/package_set'
import type { SecretBox } from '@automation/database'
import type { Client } from '@automation/rpc'
import type { AuditTrail } from './audit-trail.ts'
import type { Batcher, Logger } from '@automation/service'
import type { Checks } from './checks/checks.ts'
import type { CatalogConfig } from './config.ts'
import type { Effects } from './effects.ts'
import type { ExchangeRecords } from './access/exchange-records.ts'
import type { SigningKeys } from './access/signing-keys.ts'
import type { Store } from './store/store.ts'

/** What the catalog's services are made of; put together in service.ts. */
export interface Catalog {
  config: CatalogConfig
  store: Store
  box: SecretBox
  checks: Checks
  auditTrail: AuditTrail
  exchanges: ExchangeRecords
  keys: SigningKeys
  /** The revisions of teams, always read after they were asked for; undefined where there is no such team. */
  revisions: Batcher<string, bigint | undefined>
  executions: Client<typeof ExecutionService>
  installs: Client<typeof InstallService>
  packageSets: Client<typeof PackageSetService>
  schedules: Client<typeof ScheduleEffectService>
  scheduleUses: Client<typeof ScheduleUseService>
  effects: Effects
  logger: Logger
}
