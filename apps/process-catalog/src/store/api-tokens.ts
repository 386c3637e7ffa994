import type { ApiTokenSchema } from '@automation/contract/catalog/v1/token'
import { AuditType } from '@automation/contract/audit/v1/audit'
import { Failure, notFound } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { ApiToken } from '../../prisma/generated/client.ts'
import { secretHash, secretMatches, type Credentials } from '../api-token.ts'
import { audit } from './audit.ts'
import type { Author } from './processes.ts'
import type { Store } from './store.ts'
import { requireTeam } from './teams.ts'

type ApiTokenMessage = MessageInitShape<typeof ApiTokenSchema>

/** What an exchange needs to know of a client id, and the key that signs now. */
export interface TokenForExchange {
  team: string
  name: string | null
  secretHash: Uint8Array
  kid: string
}

/**
 * Keeps a hash of the secret. The same live token once more is no error and changes nothing, so that a token from the
 * configuration may be offered at each start; a client id that is there otherwise is api_token_exists.
 */
export function createApiToken(
  store: Store,
  author: Author,
  name: string | null,
  { clientId, clientSecret }: Credentials,
): Promise<ApiTokenMessage> {
  const { team } = author
  return store.write(async (rows) => {
    await requireTeam(rows, team)
    const { count } = await rows.apiToken.createMany({
      data: [{ clientId, team, name, secretHash: secretHash(clientSecret) }],
      skipDuplicates: true,
    })
    const row = await rows.apiToken.findUniqueOrThrow({ where: { clientId } })
    if (row.team !== team || row.revokedAt !== null || !secretMatches(clientSecret, row.secretHash))
      throw new Failure('already_exists', 'api_token_exists', `There was an API token ${clientId} already`)
    if (count > 0) await audit(rows, author, { type: AuditType.TOKEN, event: 'created', entityId: clientId })
    return apiTokenMessage(row)
  })
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

/** From this moment on the token can't be exchanged; revoking it again changes nothing. `authorFor` its team. */
export function revokeApiToken(store: Store, clientId: string, authorFor: (team: string) => Author): Promise<void> {
  return store.write(async (rows) => {
    const { count } = await rows.apiToken.updateMany({
      where: { clientId, revokedAt: null },
      data: { revokedAt: new Date() },
    })
    const token = await rows.apiToken.findUnique({ where: { clientId }, select: { team: true } })
    if (token === null) throw notFound('api_token')
    if (count > 0)
      await audit(rows, authorFor(token.team), { type: AuditType.TOKEN, event: 'revoked', entityId: clientId })
  })
}

/** One indexed read for an exchange; nothing for a client id that is unknown or revoked. */
export async function tokenForExchange(store: Store, clientId: string): Promise<TokenForExchange | undefined> {
  const [found] = await store.statement<TokenForExchange>({
    name: 'token_for_exchange',
    text: `SELECT token.team, token.name, token.secret_hash AS "secretHash", key.kid
           FROM api_tokens token JOIN signing_keys key ON key.verifiable_until IS NULL
           WHERE token.client_id = $1 AND token.revoked_at IS NULL`,
    values: [clientId],
  })
  return found
}

function apiTokenMessage({ clientId, team, name, createdAt, revokedAt }: ApiToken): ApiTokenMessage {
  return {
    clientId,
    team,
    name: name ?? undefined,
    createdAt: timestampFromDate(createdAt),
    revokedAt: revokedAt === null ? undefined : timestampFromDate(revokedAt),
  }
}
