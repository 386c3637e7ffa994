import type { Environment } from '@automation/service'
import { readSystemSettings, type SystemSettings } from '../settings.ts'

export interface ServicesSettings extends SystemSettings {
  ports: {
    gatewayHealth: number
    catalog: number
    catalogHealth: number
    execution: number
    executionHealth: number
    runnerHealth: number
    storage: number
    storageHealth: number
    sandbox: number
    sandboxHealth: number
    scheduler: number
    schedulerHealth: number
  }
}

/** Reads what the supervisor of the services needs; faults are noted in the environment. */
export function readServicesSettings(env: Environment): ServicesSettings {
  const port = (name: string, fallback: number) => env.integer(name, { default: fallback, min: 1, max: 65535 })
  return {
    ...readSystemSettings(env),
    ports: {
      gatewayHealth: port('GATEWAY_HEALTH_PORT', 9200),
      catalog: port('CATALOG_PORT', 9101),
      catalogHealth: port('CATALOG_HEALTH_PORT', 9201),
      execution: port('EXECUTION_PORT', 9102),
      executionHealth: port('EXECUTION_HEALTH_PORT', 9202),
      runnerHealth: port('RUNNER_HEALTH_PORT', 9203),
      storage: port('STORAGE_PORT', 9104),
      storageHealth: port('STORAGE_HEALTH_PORT', 9204),
      sandbox: port('SANDBOX_PORT', 9105),
      sandboxHealth: port('SANDBOX_HEALTH_PORT', 9205),
      scheduler: port('SCHEDULER_PORT', 9106),
      schedulerHealth: port('SCHEDULER_HEALTH_PORT', 9206),
    },
  }
}
