import { readServicePorts, type Environment, type ServicePorts } from '@automation/service'
import { readSystemSettings, type SystemSettings } from '../settings.ts'

export interface ServicesSettings extends SystemSettings {
  ports: ServicePorts
}

/** Reads what the supervisor of the services needs; faults are noted in the environment. */
export function readServicesSettings(env: Environment): ServicesSettings {
  return { ...readSystemSettings(env), ports: readServicePorts(env) }
}
