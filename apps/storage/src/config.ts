import { readEncryptionKeys } from '@automation/database'
import { readObjectStoreConfig, type ObjectStoreConfig } from '@automation/objects'
import { readDatabaseUrl, readTeamLimits, type Environment } from '@automation/service'

export interface StorageConfig {
  databaseUrl: string
  /** Of ENCRYPTION_KEY: keys of links are derived from them; the first one signs, all of them verify. */
  encryptionKeys: string[]
  /** Verifies the tokens of runs. */
  internalKey: string
  /** Root of the gateway's address, without a trailing slash; links lead there where the object store has no address. */
  publicUrl: string
  uploadMaxBytes: number
  /** Of all objects of a team together. */
  teamMaxBytes: number
  teamMaxObjects: number
  teamMaxKeys: number
  /** Of a set of installed packages, packed. */
  packageSetMaxBytes: number
  /** How long one is kept that nothing refers to. */
  packageSetKeepMs: number
  /** An upload ends when its process has not renewed it for this long; it renews it at a third. */
  uploadLeaseMs: number
  /** So far behind its pace, an upload to an S3 server makes room for one that waits. */
  uploadLagMs: number
  /** Of uploads in parts that are not completed. */
  teamMaxUploads: number
  /** How long an upload in parts stays that no part comes for. */
  uploadKeepMs: number
  /** How long one that is completed can be completed again, with the same answer. */
  completedKeepMs: number
  /** How long a caller waits for the parts of an upload to become one object; it goes on without them. */
  completeWaitMs: number
  /** How long a call that deletes an object removes the contents that it had; what is left goes on without it. */
  deleteWaitMs: number
  /** How long such a call waits for a store that does not answer. */
  storeWaitMs: number
  /** How long a content that another one has replaced can still be read. */
  replacedGraceMs: number
  sweepEveryMs: number
  measureEveryMs: number
  objects: ObjectStoreConfig
}

/** Reads the settings of the storage service; faults are noted in `env`. */
export function readStorageConfig(env: Environment): StorageConfig {
  const internalKey = env.secret('INTERNAL_KEY')
  if (internalKey === undefined) env.fault('INTERNAL_KEY', 'must be set: the same random text for all services')
  const teamLimits = readTeamLimits(env)
  return {
    databaseUrl: readDatabaseUrl(env),
    encryptionKeys: readEncryptionKeys(env),
    internalKey: internalKey ?? '',
    publicUrl: env.url('PUBLIC_URL', `http://localhost:${env.integer('PORT', { default: 8080, max: 65_535 })}`),
    uploadMaxBytes: env.integer('UPLOAD_MAX_BYTES', { default: 5 * 2 ** 30, min: 1, max: 2 ** 42 }),
    teamMaxBytes: env.integer('TEAM_MAX_STORAGE_BYTES', { default: 50 * 2 ** 30 }),
    teamMaxObjects: teamLimits.objects,
    teamMaxKeys: teamLimits.datastoreKeys,
    // What hardly packs is a little larger packed.
    packageSetMaxBytes: (env.integer('DEPENDENCIES_MAX_MB', { default: 512, min: 1, max: 65_536 }) + 16) * 2 ** 20,
    packageSetKeepMs: 7 * 24 * 3_600_000,
    uploadLeaseMs: 60_000,
    uploadLagMs: 10_000,
    teamMaxUploads: 100,
    uploadKeepMs: 24 * 3_600_000,
    completedKeepMs: 3_600_000,
    completeWaitMs: 50_000,
    deleteWaitMs: 2000,
    // Callers wait for 15 s.
    storeWaitMs: 8000,
    replacedGraceMs: 600_000,
    sweepEveryMs: 10_000,
    measureEveryMs: 60_000,
    objects: readObjectStoreConfig(env),
  }
}
