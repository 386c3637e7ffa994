import { AuditType } from '@automation/contract/audit/v1/audit'
import { countedUpTo, pageInfo, type Window } from '@automation/database'
import { Failure, invalid, notFound } from '@automation/errors'
import type { Credentials } from '../access/api-token.ts'
import { limits } from '../fields/limits.ts'
import { codeSubject } from '../access/sessions.ts'
import { addApiToken, apiTokenMessage, type ApiTokenMessage, type NewApiToken } from './api-tokens.ts'
import { audit } from './audit.ts'
import type { Author } from './processes.ts'
import type { Rows, Store } from './store.ts'
import { requireTeam } from './teams.ts'

/** Who makes an account: by an API token of the team, or until `endsAt` by another issuer's word. */
export type Maker = { clientId: string } | { endsAt: Date }

/**
 * A new API token of the author's team. Where its maker ends, it ends then too at the latest. Failures: invalid
 * `/expiresAt`; limit_reached; forbidden where the maker's own account is gone.
 */
export function createServiceAccount(
  store: Store,
  author: Author,
  maker: Maker,
  token: NewApiToken,
  credentials: Credentials,
): Promise<ApiTokenMessage> {
  const { team } = author
  return store.writeFor(team, async (rows) => {
    await takeTurn(rows, team)
    const expiresAt = endWithin(token.expiresAt, await endOf(rows, team, maker))
    await requireRoom(rows, team)
    await addApiToken(rows, author, { ...token, expiresAt }, credentials)
    return apiTokenMessage(await rows.apiToken.findUniqueOrThrow({ where: { clientId: credentials.clientId } }))
  })
}

/** Locks the team's row, so that two who make accounts at once count one another's. */
async function takeTurn(rows: Rows, team: string): Promise<void> {
  const found = await rows.$queryRaw<unknown[]>`SELECT 1 FROM teams WHERE slug = ${team} FOR NO KEY UPDATE`
  if (found.length === 0) throw notFound('team')
}

async function endOf(rows: Rows, team: string, maker: Maker): Promise<Date | undefined> {
  if ('endsAt' in maker) return maker.endsAt
  // An operator has let them in, whose API tokens do not end by themselves either.
  if (maker.clientId === codeSubject) return undefined
  const row = await rows.apiToken.findFirst({ where: { team, clientId: maker.clientId, revokedAt: null } })
  if (row === null)
    throw new Failure('permission_denied', 'forbidden', 'The service account that this access token is of was deleted')
  return row.expiresAt ?? undefined
}

function endWithin(wanted: Date | undefined, end: Date | undefined): Date | undefined {
  if (end === undefined || (wanted !== undefined && wanted <= end)) return wanted
  if (wanted !== undefined)
    throw invalid('/expiresAt', `must not be after ${end.toISOString()}, when your own access ends`)
  if (end <= new Date()) throw invalid('/expiresAt', 'can not be set, as your own access has ended')
  return end
}

const live = (team: string) => ({ team, revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }] })

async function requireRoom(rows: Rows, team: string): Promise<void> {
  const most = limits.serviceAccounts
  if ((await rows.apiToken.count({ where: live(team), take: most })) < most) return
  const text = `The team has ${most} service accounts that have not ended, and may have no more: delete some`
  throw new Failure('failed_precondition', 'limit_reached', text)
}

/** Those that are not deleted, newest first. */
export function listServiceAccounts(store: Store, team: string, window: Window) {
  return store.readFor(team, async (rows) => {
    const where = { team, revokedAt: null }
    const found = await rows.apiToken.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { clientId: 'asc' }],
      ...window,
      omit: { secretHash: true },
    })
    const total = await rows.apiToken.count({ where, take: countedUpTo })
    if (total === 0) await requireTeam(rows, team)
    return { accounts: found.map(apiTokenMessage), page: pageInfo(window, total, found.length) }
  })
}

/** Its API token can't be exchanged from then on. Failure: service_account_not_found. */
export function deleteServiceAccount(store: Store, author: Author, id: string): Promise<void> {
  const { team } = author
  return store.writeFor(team, async (rows) => {
    const found = await rows.apiToken.findFirst({ where: { team, id, revokedAt: null }, select: { clientId: true } })
    if (found === null) throw notFound('service_account')
    const { clientId } = found
    const { count } = await rows.apiToken.updateMany({
      where: { clientId, revokedAt: null },
      data: { revokedAt: new Date() },
    })
    if (count > 0) await audit(rows, author, { type: AuditType.TOKEN, event: 'revoked', entityId: clientId })
  })
}
