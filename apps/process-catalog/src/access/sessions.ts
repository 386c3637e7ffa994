import { createHash, randomBytes } from 'node:crypto'
import type { OutsideIdentity } from '@automation/contract/catalog/v1/session'
import { isTeamSlug } from '@automation/contract/forms'
import { allows, isScope } from '@automation/contract/scopes'
import type { SecretBox } from '@automation/database'
import { Failure } from '@automation/errors'
import { timestampDate } from '@bufbuild/protobuf/wkt'
import { limits } from '../fields/limits.ts'
import { isClientId, readApiToken, secretMatches, teamOfClientId, type Credentials } from './api-token.ts'
import type { Catalog } from '../catalog.ts'
import { tokenForExchange } from '../store/api-tokens.ts'
import { knownTeams, signInCode, type Grant, type KeptSecrets, type NewSession } from '../store/sessions.ts'
import type { Store } from '../store/store.ts'

/** Whom sessions that a code has opened act as. Client ids of API tokens begin otherwise. */
export const codeSubject = 'console'

/** How long a code may be used, in ms. */
export const codeLifeMs = 600_000

const dayMs = 86_400_000
const longestMs = 7 * dayMs
const longestUnaskedMs = dayMs / 2

/** A new id of a session, or a code: 256 random bits. */
export function newOpener(): string {
  return randomBytes(32).toString('base64url')
}

/** What is kept of it. SHA-256 is right here: there is nothing to guess. */
export function openerHash(opener: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(opener).digest())
}

/** Whom a session is for, and for how long. */
export type Opening = Pick<
  NewSession,
  'subject' | 'name' | 'clientId' | 'grants' | 'expiresAt' | 'renewAt' | 'codeHash'
>

/** What a code opens, once. Failure invalid_credentials. */
export async function byCode(store: Store, code: string): Promise<Opening> {
  const codeHash = openerHash(code)
  const found = await signInCode(store, codeHash)
  if (found === undefined) throw invalidCredentials()
  const { team, name, scopes } = found
  return { subject: codeSubject, name, clientId: null, grants: [{ team, scopes }], ...lasting(longestMs), codeHash }
}

/** What an API token opens: it may do what that may, as long as that may. Failure invalid_credentials. */
export async function byApiToken({ store, exchanges }: Catalog, apiToken: string, ip: string): Promise<Opening> {
  const { clientId, clientSecret } = credentialsIn(apiToken)
  const found = await tokenForExchange(store, clientId)
  if (!secretMatches(clientSecret, found?.secretHash) || found === undefined) {
    if (clientId !== '')
      exchanges.note({ team: teamOfClientId(clientId), clientId, ip: ip || undefined, event: 'exchange_failed' })
    throw invalidCredentials()
  }
  const { team, scopes, name } = found
  return { subject: clientId, name: name ?? clientId, clientId, grants: [{ team, scopes }], ...lasting(longestMs) }
}

/** What somebody may open whom the gateway knows by an issuer. Failure no_team where that names no team that there is. */
export async function byIdentity(store: Store, { subject, name, grants, renewAt }: OutsideIdentity): Promise<Opening> {
  const known = await knownTeams(
    store,
    grants.map(({ team }) => team).filter((team) => isTeamSlug(team)),
  )
  const kept: Grant[] = grants
    .filter(({ team }) => known.has(team))
    .map(({ team, scopes }) => ({ team, scopes: scopes.filter(isScope) }))
  if (kept.length === 0) throw new Failure('permission_denied', 'no_team', 'You are in no team of this system')
  const shown = name.replaceAll('\0', ' ').slice(0, limits.outsideNameCharacters)
  const opening = { subject, name: shown || subject, clientId: null, grants: kept }
  return renewAt === undefined
    ? { ...opening, ...lasting(longestUnaskedMs) }
    : { ...opening, ...lasting(longestMs), renewAt: timestampDate(renewAt) }
}

/** The same for whatever is wrong. */
export function invalidCredentials(): Failure {
  return new Failure('unauthenticated', 'invalid_credentials', 'This code or API token opens nothing: it is not valid')
}

/** There is no session of this id, or no longer. */
export function sessionEnded(): Failure {
  return new Failure('unauthenticated', 'session_ended', 'Your session has ended: sign in again')
}

/** Whether somebody with these scopes may do all that somebody with those may. */
export function allowsAll(scopes: readonly string[], wanted: Grant['scopes']): boolean {
  return wanted.every((word) => allows(scopes.join(' '), word))
}

/** Where the secrets of a session are sealed: in its own row only. */
export function sessionContext(id: string): string {
  return `console-session:${id}`
}

/** What is kept of a session's secrets; empty where there are none, or no key opens them any more. */
export function openedSecrets(box: SecretBox, { id, ciphertext, keyId }: KeptSecrets): string {
  if (ciphertext === null || keyId === null || !box.knows(keyId)) return ''
  return box.open({ ciphertext, keyId }, sessionContext(id))
}

function lasting(ms: number): Pick<Opening, 'expiresAt' | 'renewAt'> {
  return { expiresAt: new Date(Date.now() + ms), renewAt: null }
}

const nobody: Credentials = { clientId: '', clientSecret: '' }

/** What is malformed is looked for like any other, so that it takes as long. */
function credentialsIn(apiToken: string): Credentials {
  try {
    const credentials = readApiToken(apiToken)
    return isClientId(credentials.clientId) ? credentials : nobody
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return nobody
  }
}
