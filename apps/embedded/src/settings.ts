import { isTeamSlug } from '@automation/contract/forms'
import { resolve } from 'node:path'
import { readGatewayConfig } from '@automation/gateway/config'
import { keyMinChars, KeyRingError, readKeyRing } from '@automation/rpc/key-ring'
import type { Environment } from '@automation/service'
import { clientIdOf } from './bootstrap.ts'

/** What the whole system on one machine needs beside what its parts read for themselves. */
export interface SystemSettings {
  dataDir: string
  /** Absent: an embedded PostgreSQL in the data folder. */
  databaseUrl: string | undefined
  port: number
  /** Where the gateway listens, with its ports for sandboxes, runners and the console; 0 for a free one. */
  gatewayPorts: number[]
  /** Where health and metrics are told. */
  health: { host: string; port: number }
  publicUrl: string
  /** The address of the console; undefined where there is none. */
  consoleUrl: string | undefined
  bootstrapTeam: string
  bootstrapApiToken: string | undefined
}

/** Reads them; faults are noted in the environment. */
export function readSystemSettings(env: Environment): SystemSettings {
  const { port, publicUrl, sandboxes, console, runners } = readGatewayConfig(env)
  const bootstrapTeam = env.text('BOOTSTRAP_TEAM', 'demo')
  if (!isTeamSlug(bootstrapTeam)) env.fault('BOOTSTRAP_TEAM', 'must be 1 to 63 of a-z, 0-9 and inner hyphens')
  const bootstrapApiToken = env.secret('BOOTSTRAP_API_TOKEN')
  if (bootstrapApiToken !== undefined && clientIdOf(bootstrapApiToken) === '')
    env.fault('BOOTSTRAP_API_TOKEN', 'must be sk- and the base64 of clientId:clientSecret')
  checkInternalKey(env)
  return {
    dataDir: resolve(env.text('DATA_DIR', '.data')),
    databaseUrl: env.secret('DATABASE_URL'),
    port,
    gatewayPorts: [port, sandboxes.publicPort, sandboxes.grpcPort, console?.port ?? 0, runners?.port ?? 0],
    health: {
      host: env.text('INTERNAL_HOST', '127.0.0.1'),
      port: env.integer('HEALTH_PORT', { default: port === 0 ? 0 : 9200, max: 65_535 }),
    },
    publicUrl,
    consoleUrl: console && (console.url ?? `http://localhost:${console.port}`),
    bootstrapTeam,
    bootstrapApiToken,
  }
}

/** As services of their own hold it to be. */
function checkInternalKey(env: Environment): void {
  const keys = env.secret('INTERNAL_KEY')
  try {
    if (keys !== undefined) readKeyRing(keys, keyMinChars)
  } catch (error) {
    if (!(error instanceof KeyRingError)) throw error
    env.fault('INTERNAL_KEY', error.message)
  }
}
