import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import type { Scope } from '@automation/contract/scopes'
import { invalid } from '@automation/errors'

export interface Credentials {
  clientId: string
  clientSecret: string
}

/** What the first token of a system may give. */
export const bootstrapScopes: Scope[] = ['executor', 'admin']

const prefix = 'sk-'
const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
const maxChars = 4096

const malformed =
  'is malformed: an API token is sk- with base64 of CLIENT_ID:CLIENT_SECRET, or base64 of {"clientId": …, "clientSecret": …}. ' +
  'Give one as it was shown when it was made, by POST …/auth/service-accounts or by the operator'

/** `length` random characters of a-z and 0-9. */
export function randomWord(length: number): string {
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join('')
}

/** New credentials of a team: the client id `sa-<team>-<8 of a-z0-9>` and 256 random bits. */
export function newCredentials(team: string): Credentials {
  return { clientId: `sa-${team}-${randomWord(8)}`, clientSecret: randomBytes(32).toString('base64url') }
}

/** Whether a client id has the form that this team's tokens have. */
export function isClientIdOf(team: string, clientId: string): boolean {
  return clientId.startsWith(`sa-${team}-`) && /^[a-z0-9]{8}$/.test(clientId.slice(team.length + 4))
}

/** Whether a text has the form of a client id, of whatever team. */
export function isClientId(text: string): boolean {
  return /^sa-[a-z0-9-]{1,63}-[a-z0-9]{8}$/.test(text)
}

/** The team that a client id names. */
export function teamOfClientId(clientId: string): string {
  return clientId.slice(3, -9)
}

/** Credentials in the form in which clients hold them. */
export function apiTokenOf({ clientId, clientSecret }: Credentials): string {
  return prefix + Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
}

/**
 * Reads an API token: `sk-` + base64 of `clientId:clientSecret`, or base64 of JSON `{clientId, clientSecret}`.
 * Failure `api_token_malformed` (invalid_argument) at `path` for all else.
 */
export function readApiToken(apiToken: string, path = '/x-api-token'): Credentials {
  const credentials = apiToken.startsWith(prefix)
    ? readPair(decoded(apiToken.slice(prefix.length)))
    : readRecord(decoded(apiToken))
  if (credentials === undefined || credentials.clientId === '' || credentials.clientSecret === '')
    throw invalid(path, malformed, 'api_token_malformed')
  return credentials
}

/** SHA-256 is right here, as the secret has 256 random bits: there is nothing to guess. */
export function secretHash(clientSecret: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(clientSecret).digest())
}

/**
 * The same for a token that gives less than `executor`, or ends: a build from before knows neither, and would give all for
 * ever. It does not know this hash, and refuses.
 */
export function boundedSecretHash(clientSecret: string): Uint8Array<ArrayBuffer> {
  return secretHash(`bounded\0${clientSecret}`)
}

/** Compares with either hash in constant time; a missing one takes as long as a wrong one. */
export function secretMatches(clientSecret: string, hash: Uint8Array | undefined): boolean {
  const kept = hash?.length === 32 ? hash : new Uint8Array(32)
  const isPlain = timingSafeEqual(secretHash(clientSecret), kept)
  const isBounded = timingSafeEqual(boundedSecretHash(clientSecret), kept)
  return (isPlain || isBounded) && hash !== undefined
}

/** Base64 of either alphabet, with its padding or without; empty where what it decodes to is not written so. */
function decoded(base64: string): string {
  if (base64.length > maxChars) return ''
  const bytes = Buffer.from(base64, 'base64')
  const written = bytes.toString('base64')
  const given = base64.replaceAll('-', '+').replaceAll('_', '/')
  return given === written || given === written.replace(/=+$/, '') ? bytes.toString('utf8') : ''
}

function readPair(pair: string): Credentials | undefined {
  const colon = pair.indexOf(':')
  return colon < 0 ? undefined : { clientId: pair.slice(0, colon), clientSecret: pair.slice(colon + 1) }
}

function readRecord(json: string): Credentials | undefined {
  let record: unknown
  try {
    record = JSON.parse(json)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  const { clientId, clientSecret } = (record ?? {}) as Record<string, unknown>
  return typeof clientId === 'string' && typeof clientSecret === 'string' ? { clientId, clientSecret } : undefined
}
