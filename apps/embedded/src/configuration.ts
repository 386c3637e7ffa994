import type { Environment } from '@automation/service'
import { readConfigs } from './parts.ts'
import { readSystemSettings, type SystemSettings } from './settings.ts'

/** The settings of the system and of all its parts; faults are noted in the environment. */
export function readEmbedded(env: Environment): { settings: SystemSettings; configs: ReturnType<typeof readConfigs> } {
  return { settings: readSystemSettings(env), configs: readConfigs(env) }
}
