import type { ApiTokenSchema } from '@automation/contract/catalog/v1/token'
import { AuditType } from '@automation/contract/audit/v1/audit'
import type { Scope } from '@automation/contract/scopes'
import { Failure, notFound } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { ApiToken } from '../../prisma/generated/client.ts'
import { boundedSecretHash, secretHash, secretMatches, type Credentials } from '../access/api-token.ts'
import { audit } from './audit.ts'
import type { Author } from './processes.ts'
import type { Rows, Store } from './store.ts'
import { noteRevocation } from './team-limits.ts'
import { requireTeam } from './teams.ts'

export type ApiTokenMessage = MessageInitShape<typeof ApiTokenSchema>

/** What an API token is made with. */
export interface NewApiToken {
  name: string | null
  scopes: Scope[]
  /** Absent: it does not end by itself. */
  expiresAt?: Date
}

/** What an exchange needs to know of a client id, and the key that signs now. */
interface TokenForExchange {
  team: string
  name: string | null
  secretHash: Uint8Array
  scopes: Scope[]
  /** Seconds until it ends by itself, where it does. */
  endsInS: number | null
  /** Nothing was noted of its use for a minute. */
  isUseOld: boolean
  kid: string
}

/**
 * Keeps a hash of the secret. The same live token once more is no error and changes nothing but that it gets scopes which it
 * lacks, so that a token from the configuration may be offered at each start; a client id that is there otherwise is
 * api_token_exists.
 */
export function createApiToken(
  store: Store,
  author: Author,
  token: NewApiToken,
  credentials: Credentials,
): Promise<ApiTokenMessage> {
  const { team } = author
  const { clientId, clientSecret } = credentials
  return store.write(async (rows) => {
    await requireTeam(rows, team)
    const isNew = await addApiToken(rows, author, token, credentials)
    const row = await rows.apiToken.findUniqueOrThrow({ where: { clientId } })
    if (row.team !== team || row.revokedAt !== null || !secretMatches(clientSecret, row.secretHash))
      throw new Failure('already_exists', 'api_token_exists', `There was an API token ${clientId} already`)
    const lacks = token.scopes.some((word) => !row.scopes.includes(word))
    if (isNew || !lacks) return apiTokenMessage(row)
    await audit(rows, author, { type: AuditType.TOKEN, event: 'updated', entityId: clientId })
    return apiTokenMessage(await rows.apiToken.update({ where: { clientId }, data: { scopes: token.scopes } }))
  })
}

/** Adds a row unless there is one with the client id; whether it did. */
export async function addApiToken(
  rows: Rows,
  author: Author,
  { name, scopes, expiresAt }: NewApiToken,
  { clientId, clientSecret }: Credentials,
): Promise<boolean> {
  const isBounded = expiresAt !== undefined || !scopes.includes('executor')
  const hash = isBounded ? boundedSecretHash(clientSecret) : secretHash(clientSecret)
  const { count } = await rows.apiToken.createMany({
    data: [{ clientId, team: author.team, name, secretHash: hash, scopes, expiresAt }],
    skipDuplicates: true,
  })
  if (count > 0) await audit(rows, author, { type: AuditType.TOKEN, event: 'created', entityId: clientId })
  return count > 0
}

/** The team's tokens, revoked ones too, newest first. */
export function listApiTokens(store: Store, team: string): Promise<ApiTokenMessage[]> {
  return store.read(async (rows) => {
    await requireTeam(rows, team)
    const found = await rows.apiToken.findMany({
      where: { team },
      orderBy: [{ createdAt: 'desc' }, { clientId: 'asc' }],
    })
    return found.map(apiTokenMessage)
  })
}

/**
 * From this moment on the token can't be exchanged, and with `atOnce` gateways refuse what it was exchanged for within
 * seconds; doing it again changes nothing. `authorFor` its team.
 */
export function revokeApiToken(
  store: Store,
  clientId: string,
  atOnce: boolean,
  authorFor: (team: string) => Author,
): Promise<void> {
  return store.write(async (rows) => {
    const { count } = await rows.apiToken.updateMany({
      where: { clientId, revokedAt: null },
      data: { revokedAt: new Date() },
    })
    const token = await rows.apiToken.findUnique({ where: { clientId }, select: { team: true } })
    if (token === null) throw notFound('api_token')
    const ended = atOnce
      ? await rows.apiToken.updateMany({
          where: { clientId, accessRevokedAt: null },
          data: { accessRevokedAt: new Date() },
        })
      : { count: 0 }
    if (ended.count > 0) await noteRevocation(rows, token.team)
    if (count + ended.count > 0)
      await audit(rows, authorFor(token.team), { type: AuditType.TOKEN, event: 'revoked', entityId: clientId })
  })
}

/**
 * Access tokens of the author's team that were issued until now are refused by gateways within seconds. Failure
 * team_not_found.
 */
export function endAccess(store: Store, author: Author): Promise<void> {
  const { team } = author
  return store.write(async (rows) => {
    // Tokens say the second of their issue alone: those of the present one end, too.
    const ended = await rows.$executeRaw`
      UPDATE teams SET access_from = date_trunc('second', clock_timestamp()) + interval '1 second' WHERE slug = ${team}`
    if (ended === 0) throw notFound('team')
    await noteRevocation(rows, team)
    await audit(rows, author, { type: AuditType.TEAM, event: 'access_ended', entityId: team })
  })
}

/** One indexed read for an exchange; nothing for a client id that is unknown, revoked, or within a second of its end. */
export async function tokenForExchange(store: Store, clientId: string): Promise<TokenForExchange | undefined> {
  const [found] = await store.statement<TokenForExchange>({
    name: 'token_for_exchange',
    text: `SELECT token.team, token.name, token.secret_hash AS "secretHash", token.scopes, key.kid,
             floor(extract(epoch FROM token.expires_at - now()))::float8 AS "endsInS",
             coalesce(token.last_used_at < now() - interval '1 minute', true) AS "isUseOld"
           FROM api_tokens token JOIN signing_keys key ON key.verifiable_until IS NULL
           WHERE token.client_id = $1 AND token.revoked_at IS NULL
             AND (token.expires_at IS NULL OR token.expires_at >= now() + interval '1 second')`,
    values: [clientId],
  })
  return found
}

/** Notes that a token was exchanged, at most once a minute. */
export async function noteUse(store: Store, clientId: string): Promise<void> {
  await store.statement({
    name: 'token_note_use',
    text: `UPDATE api_tokens SET last_used_at = now()
           WHERE client_id = $1 AND coalesce(last_used_at < now() - interval '1 minute', true)`,
    values: [clientId],
  })
}

/** A row as others see it: without the secret. */
export function apiTokenMessage(row: Omit<ApiToken, 'secretHash'>): ApiTokenMessage {
  const { id, clientId, team, name, scopes } = row
  const time = (date: Date | null) => (date === null ? undefined : timestampFromDate(date))
  return {
    id,
    clientId,
    team,
    name: name ?? undefined,
    scopes,
    createdAt: timestampFromDate(row.createdAt),
    revokedAt: time(row.revokedAt),
    expiresAt: time(row.expiresAt),
    lastUsedAt: time(row.lastUsedAt),
  }
}
