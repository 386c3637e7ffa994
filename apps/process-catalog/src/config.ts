import { readEncryptionKeys } from '@automation/database'
import type { Environment } from '@automation/service'
import type { FirstTeam } from './first-team.ts'

export interface CatalogConfig {
  databaseUrl: string
  databasePoolSize: number
  /** Of ENCRYPTION_KEY: the first one encrypts, all of them decrypt. */
  encryptionKeys: string[]
  /** The issuer of access tokens. */
  publicUrl: string
  accessTokenTtlS: number
  signingKeyRotationDays: number
  /** Made at the start where it is missing; set by the process of the catalog alone. */
  firstTeam?: FirstTeam
  /** How often left-over work is looked for, and how old a deletion is before it counts as left over. */
  upkeep: { deletionsEveryMs: number; deletionsAfterS: number; keysEveryMs: number }
}

/** Reads the catalog's settings; faults are noted in `environment`. */
export function readCatalogConfig(environment: Environment): CatalogConfig {
  const port = environment.integer('PORT', { default: 8080, max: 65_535 })
  return {
    databaseUrl: required(environment, 'DATABASE_URL'),
    databasePoolSize: environment.integer('DATABASE_POOL_SIZE', { default: 10, min: 1, max: 1000 }),
    encryptionKeys: readEncryptionKeys(environment),
    publicUrl: environment.url('PUBLIC_URL', `http://localhost:${port}`),
    accessTokenTtlS: environment.integer('ACCESS_TOKEN_TTL_S', { default: 3600, min: 1, max: 31_536_000 }),
    signingKeyRotationDays: environment.integer('SIGNING_KEY_ROTATION_DAYS', { default: 30, min: 1, max: 3650 }),
    upkeep: { deletionsEveryMs: 5000, deletionsAfterS: 10, keysEveryMs: 600_000 },
  }
}

function required(environment: Environment, name: string): string {
  const value = environment.secret(name)
  if (value === undefined) environment.fault(name, 'must be set')
  return value ?? ''
}
