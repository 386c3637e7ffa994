import { join } from 'node:path'
import { Environment } from '@automation/service'
import { gives, withKeysToCome, type EnvironmentValues } from './keys.ts'
import { readSystemSettings } from './settings.ts'

/** The environment of a start, before it has made what it makes itself. */
export interface EnvironmentToCome {
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
    values: withKeysToCome(
      gives(values, 'DATABASE_URL') ? values : { ...values, DATABASE_URL: 'postgresql://embedded' },
    ),
    shown: Object.fromEntries(Object.entries(made).filter(([name]) => !gives(values, name))),
  }
}
