import { join } from 'node:path'
import { Environment } from '@automation/service/environment'
import { readOrMakeKey } from './secret-file.ts'
import { readSystemSettings } from './settings.ts'

/** The settings of a system's keys; each is made in the data folder unless the environment gives it. */
const keyFiles = { INTERNAL_KEY: 'internal-key', ENCRYPTION_KEY: 'encryption-key' } as const

export type EnvironmentValues = Record<string, string | undefined>

/** The environment completed with what the data folder has: keys, which are made there at the first start, and packages. */
export function withDataDir(values: EnvironmentValues, dataDir: string): EnvironmentValues {
  return completed(values, dataDir, (file) => readOrMakeKey(join(dataDir, file)))
}

/** Whether the environment gives a setting itself, or names a file that does. */
export function gives(values: EnvironmentValues, name: string): boolean {
  return Boolean(values[name]) || Boolean(values[`${name}_FILE`])
}

function completed(values: EnvironmentValues, dataDir: string, key: (file: string) => string): EnvironmentValues {
  const keys = Object.entries(keyFiles)
    .filter(([name]) => !gives(values, name))
    .map(([name, file]) => [name, key(file)] as const)
  // Of each system its own: it removes what its own runs do not use.
  const RUNNER_DEPENDENCIES_DIR = values['RUNNER_DEPENDENCIES_DIR'] || join(dataDir, 'packages')
  return { ...values, ...Object.fromEntries(keys), RUNNER_DEPENDENCIES_DIR }
}

/** The environment of a start, before it has made what it makes itself. */
interface EnvironmentToCome {
  /** With a stand-in for each setting that the start makes. */
  values: EnvironmentValues
  /** What to tell people in place of the stand-ins. */
  shown: Record<string, string>
}

/** Stands in for keys and database where the environment gives none, so that every other fault is found at once. */
export function environmentToCome(values: EnvironmentValues): EnvironmentToCome {
  const { dataDir } = readSystemSettings(new Environment(values))
  const made = {
    DATABASE_URL: `(embedded PostgreSQL in ${join(dataDir, 'postgres')})`,
    INTERNAL_KEY: `(made in ${join(dataDir, 'internal-key')})`,
    ENCRYPTION_KEY: `(made in ${join(dataDir, 'encryption-key')})`,
    BOOTSTRAP_API_TOKEN: `(made in ${join(dataDir, 'bootstrap-token')})`,
  }
  return {
    values: completed(
      gives(values, 'DATABASE_URL') ? values : { ...values, DATABASE_URL: 'postgresql://embedded' },
      dataDir,
      () => '0'.repeat(64),
    ),
    shown: Object.fromEntries(Object.entries(made).filter(([name]) => !gives(values, name))),
  }
}
