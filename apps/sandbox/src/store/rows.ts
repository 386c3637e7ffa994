import { SandboxStatus } from '@automation/contract/sandbox/v1/sandbox'

/** A sandbox as it is kept. */
export interface SandboxRow {
  id: string
  team: string
  name: string
  imageId: string
  /** JSON text. */
  metadata: string
  publicHttpPorts: number[]
  authUsername: string | null
  authPasswordHash: string | null
  status: SandboxStatus
  reason: string | null
  driver: string
  daemonAddress: string | null
  apiKeyDigest: Buffer
  /** Sealed, as the daemon key is. */
  apiKey: Buffer
  daemonKey: Buffer
  keyId: string
  timeoutAt: Date
  createdBy: string
  createdAt: Date
}

/** Those that have not ended. */
export const active = 'status <= 2'

export const columns = `id, team, name, image_id AS "imageId", metadata, public_http_ports AS "publicHttpPorts",
  auth_username AS "authUsername", auth_password_hash AS "authPasswordHash", status, reason, driver,
  daemon_address AS "daemonAddress", api_key_digest AS "apiKeyDigest", api_key AS "apiKey", daemon_key AS "daemonKey",
  key_id AS "keyId", timeout_at AS "timeoutAt", created_by AS "createdBy", created_at AS "createdAt"`

/** How a sandbox may end. */
export type Ending = SandboxStatus.KILLED | SandboxStatus.TIMED_OUT | SandboxStatus.FAILED

/** Whether a sandbox is neither to come nor there. */
export function hasEnded({ status }: Pick<SandboxRow, 'status'>): boolean {
  return status !== SandboxStatus.PENDING && status !== SandboxStatus.RUNNING
}
