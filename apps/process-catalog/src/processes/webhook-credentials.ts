import { invalid } from '@automation/errors'
import { text } from '../fields/text.ts'

/** What a webhook asks of its callers: both or neither. */
interface WebhookCredentials {
  webhookUsername: string | null
  webhookPasswordHash: string | null
}

/** What a caller wants changed: an absent member stays, a username of null removes the credentials. */
export interface CredentialsChange {
  username?: string | null
  password?: string
}

export const noCredentials: WebhookCredentials = { webhookUsername: null, webhookPasswordHash: null }

// bcrypt reads no further.
const passwordMaxBytes = 72

/** An empty username is none. HTTP Basic can't carry a colon in it. */
export function webhookUsername(value: string | undefined): string | null {
  if (value === undefined || value === '') return null
  if (value.includes(':')) throw invalid('/webhook/username', 'must not contain a colon')
  return text('/webhook/username', value, 255)
}

/** An empty password is none: the one that is stored stays. */
export function webhookPassword(value: string | undefined): string | undefined {
  if (value === undefined || value === '') return undefined
  if (Buffer.byteLength(value) > passwordMaxBytes)
    throw invalid('/webhook/password', `must have at most ${passwordMaxBytes} bytes`)
  return text('/webhook/password', value, passwordMaxBytes)
}

/** The credentials after a change; `passwordHash` is that of the new password, where one is given. */
export function changedCredentials(
  current: WebhookCredentials,
  { username }: CredentialsChange,
  passwordHash: string | undefined,
): WebhookCredentials {
  const webhookUsername = username === undefined ? current.webhookUsername : username
  const webhookPasswordHash = passwordHash ?? (webhookUsername === null ? null : current.webhookPasswordHash)
  requireBoth(webhookUsername, webhookPasswordHash)
  return { webhookUsername, webhookPasswordHash }
}

/** Fails where there is one without the other; an empty one is none. */
export function requireBoth(username: string | null | undefined, password: string | null | undefined): void {
  if (password && !username) throw invalid('/webhook/username', 'is required with a password')
  if (username && !password) throw invalid('/webhook/password', 'is required with a username')
}
