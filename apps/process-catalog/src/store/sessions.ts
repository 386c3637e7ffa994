import type { AuditEntry } from '@automation/audit'
import { AuditType } from '@automation/contract/audit/v1/audit'
import type { Scope } from '@automation/contract/scopes'
import type { Sealed } from '@automation/database'
import { v7 } from 'uuid'
import { audit } from './audit.ts'
import type { Rows, Store } from './store.ts'
import { requireTeam } from './teams.ts'

/** What a session may do in a team. */
export interface Grant {
  team: string
  scopes: Scope[]
}

/** A session as it is made. */
export interface NewSession {
  /** Of the id that its browser has. */
  idHash: Uint8Array<ArrayBuffer>
  /** What records name it by. */
  id: string
  subject: string
  name: string
  clientId: string | null
  grants: Grant[]
  expiresAt: Date
  renewAt: Date | null
  sealed: Sealed | null
  /** Of the code that opens it; absent where something else does. */
  codeHash?: Uint8Array<ArrayBuffer>
}

/** A session that has not ended, and the key that signs now. */
export interface LiveSession {
  id: string
  subject: string
  name: string
  clientId: string | null
  /** Of the API token that it lives by as they are now, else its own. */
  grants: Grant[]
  /** What people call its teams, by their slugs. */
  teamNames: Record<string, string>
  endsAt: Date
  /** When it ends however much it is used. */
  expiresAt: Date
  isOutside: boolean
  isUseOld: boolean
  isRenewalDue: boolean
  kid: string
}

/** What the issuer of a session is asked with. */
export interface KeptSecrets {
  id: string
  ciphertext: Uint8Array | null
  keyId: string | null
}

// Of one subject; beyond, the one that was not used for the longest ends.
const mostOfSubject = 100

const idle = `interval '12 hours'`

/** A code that opens one session of the team. Failure team_not_found. */
export function keepSignInCode(
  store: Store,
  code: { codeHash: Uint8Array<ArrayBuffer>; team: string; name: string; scopes: Scope[]; expiresAt: Date },
): Promise<void> {
  return store.write(async (rows) => {
    await requireTeam(rows, code.team)
    await rows.signInCode.create({ data: code })
  })
}

/** Whom a code is for; undefined where there is none, or no longer. */
export async function signInCode(store: Store, codeHash: Uint8Array): Promise<(Grant & { name: string }) | undefined> {
  const [found] = await store.statement<Grant & { name: string }>({
    name: 'sign_in_code',
    text: 'SELECT team, name, scopes FROM sign_in_codes WHERE code_hash = $1 AND expires_at > now()',
    values: [codeHash],
  })
  return found
}

/** Those of these teams that there are. */
export async function knownTeams(store: Store, teams: string[]): Promise<Set<string>> {
  const found = await store.read((rows) =>
    rows.team.findMany({ where: { slug: { in: teams } }, select: { slug: true } }),
  )
  return new Set(found.map(({ slug }) => slug))
}

/** Keeps a session that begins, and takes its code with that: of one that fails the code is kept. False where it is taken. */
export function keepSession(store: Store, session: NewSession, ip: string | undefined): Promise<boolean> {
  const { sealed, grants, codeHash, ...rest } = session
  return store.write(async (rows) => {
    if (codeHash !== undefined) {
      const { count } = await rows.signInCode.deleteMany({ where: { codeHash } })
      if (count === 0) return false
    }
    await rows.consoleSession.create({
      data: {
        ...rest,
        grants: grants.map(({ team, scopes }) => ({ team, scopes })),
        ciphertext: sealed?.ciphertext ?? null,
        keyId: sealed?.keyId ?? null,
      },
    })
    await rows.$executeRaw`
      DELETE FROM console_sessions WHERE id_hash IN (
        SELECT id_hash FROM console_sessions WHERE subject = ${session.subject}
        ORDER BY last_used_at DESC, id DESC OFFSET ${mostOfSubject})`
    await noteFor(rows, session, 'session_opened', ip)
    return true
  })
}

/** The session of an id; undefined where there is none, or no longer. */
export async function liveSession(store: Store, idHash: Uint8Array): Promise<LiveSession | undefined> {
  const [found] = await store.statement<LiveSession & { tokenScopes: Scope[] | null }>({
    name: 'console_session',
    text: `SELECT session.id::text, session.subject, coalesce(token.name, session.name) AS name,
             session.client_id AS "clientId", session.grants, token.scopes AS "tokenScopes",
             coalesce((SELECT jsonb_object_agg(team.slug, team.name) FROM teams team
               WHERE team.slug IN (SELECT member ->> 'team' FROM jsonb_array_elements(session.grants) member)), '{}'
             ) AS "teamNames",
             least(session.expires_at, session.last_used_at + ${idle}, token.expires_at) AS "endsAt",
             least(session.expires_at, token.expires_at) AS "expiresAt", session.ciphertext IS NOT NULL AS "isOutside",
             session.last_used_at < now() - interval '1 minute' AS "isUseOld",
             coalesce(session.renew_at <= now(), false) AS "isRenewalDue", key.kid
           FROM console_sessions session
           JOIN signing_keys key ON key.verifiable_until IS NULL
           LEFT JOIN api_tokens token ON token.client_id = session.client_id AND token.revoked_at IS NULL
             AND (token.expires_at IS NULL OR token.expires_at >= now() + interval '1 second')
           WHERE session.id_hash = $1 AND session.expires_at > now()
             AND session.last_used_at > now() - ${idle}
             AND (session.client_id IS NULL OR token.client_id IS NOT NULL)`,
    values: [idHash],
  })
  if (found === undefined) return undefined
  const { tokenScopes, ...session } = found
  if (tokenScopes !== null) session.grants = session.grants.map(({ team }) => ({ team, scopes: tokenScopes }))
  return session
}

/** Notes that a session was used, at most once a minute. */
export async function noteSessionUse(store: Store, idHash: Uint8Array): Promise<void> {
  await store.statement({
    name: 'console_session_note_use',
    text: `UPDATE console_sessions SET last_used_at = now()
           WHERE id_hash = $1 AND last_used_at < now() - interval '1 minute'`,
    values: [idHash],
  })
}

/** What a session is to be renewed with, for one of those who ask within half a minute; undefined for the others. */
export async function claimRenewal(store: Store, idHash: Uint8Array): Promise<KeptSecrets | undefined> {
  const [found] = await store.statement<KeptSecrets>({
    name: 'console_session_claim_renewal',
    text: `UPDATE console_sessions SET renew_at = now() + interval '30 seconds'
           WHERE id_hash = $1 AND renew_at <= now() RETURNING id::text, ciphertext, key_id AS "keyId"`,
    values: [idHash],
  })
  return found
}

/** Writes what the issuer says of a session now; whether there is one. To teams that it has lost it has ended. */
export function renewSession(
  store: Store,
  { idHash, name, grants, renewAt, sealed }: Pick<NewSession, 'idHash' | 'name' | 'grants' | 'renewAt' | 'sealed'>,
): Promise<boolean> {
  return store.write(async (rows) => {
    const [former] = await rows.$queryRaw<Pick<NewSession, 'id' | 'name' | 'grants'>[]>`
      SELECT id::text, name, grants FROM console_sessions WHERE id_hash = ${idHash} FOR UPDATE`
    if (former === undefined) return false
    await rows.consoleSession.update({
      where: { idHash },
      data: {
        name,
        grants: grants.map(({ team, scopes }) => ({ team, scopes })),
        renewAt,
        ...(sealed !== null && { ciphertext: sealed.ciphertext, keyId: sealed.keyId }),
      },
    })
    const lost = former.grants.filter(({ team }) => grants.every((grant) => grant.team !== team))
    await noteFor(rows, { ...former, grants: lost }, 'session_closed', undefined)
    const had = new Set(former.name === name ? former.grants.map(textOf) : [])
    const changed = grants.filter((grant) => !had.has(textOf(grant)))
    await noteFor(rows, { id: former.id, name, grants: changed }, 'session_renewed', undefined)
    return true
  })
}

const textOf = ({ team, scopes }: Grant) => `${team}: ${scopes.toSorted().join(' ')}`

/** The id that records name a session by. */
export async function recordedId(store: Store, idHash: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
  const found = await store.read((rows) => rows.consoleSession.findUnique({ where: { idHash }, select: { id: true } }))
  return found?.id
}

/** Ends a session; undefined where there is none. */
export function endSession(
  store: Store,
  idHash: Uint8Array<ArrayBuffer>,
  ip: string | undefined,
): Promise<KeptSecrets | undefined> {
  return store.write(async (rows) => {
    const [ended] = await rows.$queryRaw<(KeptSecrets & Pick<NewSession, 'name' | 'grants'>)[]>`
      DELETE FROM console_sessions WHERE id_hash = ${idHash}
      RETURNING id::text, name, grants, ciphertext, key_id AS "keyId"`
    if (ended !== undefined) await noteFor(rows, ended, 'session_closed', ip)
    return ended
  })
}

/** Ends the sessions that reach a team, or all where that is empty, and takes back the codes; how many sessions. */
export function endSessions(store: Store, team: string): Promise<number> {
  return store.write(async (rows) => {
    const ended = await rows.$queryRaw<Pick<NewSession, 'id' | 'name' | 'grants'>[]>`
      DELETE FROM console_sessions
      WHERE ${team}::text = '' OR grants @> jsonb_build_array(jsonb_build_object('team', ${team}::text))
      RETURNING id::text, name, grants`
    await rows.signInCode.deleteMany({ where: team === '' ? {} : { team } })
    for (const session of ended) await noteFor(rows, session, 'session_closed', undefined)
    return ended.length
  })
}

/** Forgets sessions and codes that have ended by themselves. */
export async function removeEndedSessions(store: Store): Promise<void> {
  await store.statement({
    text: `DELETE FROM console_sessions WHERE expires_at <= now() OR last_used_at <= now() - ${idle}`,
  })
  await store.statement({ text: 'DELETE FROM sign_in_codes WHERE expires_at <= now()' })
}

/** A new id for records. */
export function newRecordedId(): string {
  return v7()
}

/** Each team of a session has a record of its own. */
async function noteFor(
  rows: Rows,
  { id, name, grants }: Pick<NewSession, 'id' | 'name' | 'grants'>,
  event: AuditEntry['event'],
  ip: string | undefined,
): Promise<void> {
  for (const { team } of grants)
    await audit(rows, { team, name, ...(ip !== undefined && { ip }) }, { type: AuditType.TOKEN, event, entityId: id })
}
