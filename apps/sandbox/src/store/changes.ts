import { recordAudit } from '@automation/audit'
import { AuditType } from '@automation/contract/audit/v1/audit'
import { SandboxStatus } from '@automation/contract/sandbox/v1/sandbox'
import { Failure } from '@automation/errors'
import type { Member } from '@automation/rpc'
import { active, columns, type Ending, type SandboxRow } from './rows.ts'
import type { Store } from './store.ts'

/** What a new row is made of; times are the database's. */
interface NewSandbox {
  id: string
  /** Who makes it, for their team. */
  asker: Member
  name: string
  imageId: string
  metadata: Record<string, string>
  publicHttpPorts: number[]
  authUsername: string | null
  authPasswordHash: string | null
  driver: string
  apiKeyDigest: Buffer
  apiKey: Uint8Array
  daemonKey: Uint8Array
  keyId: string
  timeoutMs: number
}

/**
 * Writes the intent: a PENDING sandbox, unless the team has as many as it may. Those of a team come one after the other,
 * so that each is counted by the next. Failure too_many_sandboxes.
 */
export async function insertSandbox(store: Store, sandbox: NewSandbox, teamMax: number): Promise<SandboxRow> {
  const { asker } = sandbox
  return store.transactionFor(asker.team, async (client) => {
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`sandboxes of ${asker.team}`])
    const { rows } = await client.query<SandboxRow>({
      name: 'insert_sandbox',
      text: `INSERT INTO sandboxes (id, team, name, image_id, metadata, public_http_ports, auth_username,
               auth_password_hash, status, driver, api_key_digest, api_key, daemon_key, key_id, timeout_at, created_by,
               created_at)
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, ${SandboxStatus.PENDING}, $9, $10, $11, $12, $13,
               now() + $14 * interval '1 ms', $15, now()
             WHERE (SELECT count(*) FROM sandboxes WHERE team = $2 AND ${active}) < $16
             RETURNING ${columns}`,
      values: [
        sandbox.id,
        asker.team,
        sandbox.name,
        sandbox.imageId,
        JSON.stringify(sandbox.metadata),
        sandbox.publicHttpPorts,
        sandbox.authUsername,
        sandbox.authPasswordHash,
        sandbox.driver,
        sandbox.apiKeyDigest,
        Buffer.from(sandbox.apiKey),
        Buffer.from(sandbox.daemonKey),
        sandbox.keyId,
        sandbox.timeoutMs,
        asker.name,
        teamMax,
      ],
    })
    const [row] = rows
    if (row === undefined) throw tooMany(teamMax)
    await recordAudit(client, asker, { type: AuditType.SANDBOX, event: 'created', entityId: row.id })
    return row
  })
}

/** Failure too_many_sandboxes as far as can be told now: what is dear is not begun for a team that has all it may. */
export async function checkQuota(store: Store, team: string, teamMax: number): Promise<void> {
  const [row] = await store.query<{ isFull: boolean }>({
    name: 'sandboxes_full',
    text: `SELECT count(*) >= $2 AS "isFull" FROM sandboxes WHERE team = $1 AND ${active}`,
    values: [team, teamMax],
  })
  if (row?.isFull === true) throw tooMany(teamMax)
}

/** Failure too_many_sandboxes. */
export function tooMany(teamMax: number): Failure {
  return new Failure(
    'resource_exhausted',
    'too_many_sandboxes',
    `The team has ${teamMax} sandboxes, and may have no more at a time: kill one, or wait for one to time out`,
    { retryAfterS: 5 },
  )
}

/** Its daemon answers; nothing where it has ended meanwhile. May be told twice. */
export async function markRunning(store: Store, id: string, address: string): Promise<SandboxRow | undefined> {
  const [row] = await store.query<SandboxRow>({
    name: 'mark_running',
    text: `UPDATE sandboxes SET status = ${SandboxStatus.RUNNING}, daemon_address = $2
           WHERE id = $1 AND (status = ${SandboxStatus.PENDING}
             OR status = ${SandboxStatus.RUNNING} AND daemon_address = $2) RETURNING ${columns}`,
    values: [id, address],
  })
  return row
}

/** How a sandbox ends: by itself, with a reason where it failed, or because somebody has killed it. */
export type End = { status: Exclude<Ending, SandboxStatus.KILLED>; reason?: string } | { killedBy: Member }

/** Ends it, unless it has ended, or is not yet at the status `from`: then nothing. */
export async function markEnded(
  store: Store,
  id: string,
  end: End,
  from = SandboxStatus.PENDING,
): Promise<SandboxRow | undefined> {
  const [status, reason] = 'killedBy' in end ? [SandboxStatus.KILLED] : [end.status, end.reason]
  const statement = {
    name: 'mark_ended',
    text: `UPDATE sandboxes SET status = $2, reason = $3, ended_at = now(), daemon_address = NULL
           WHERE id = $1 AND ${active} AND status >= $4 RETURNING ${columns}`,
    // It may hold what the code in the sandbox wrote, and PostgreSQL keeps no NUL.
    values: [id, status, reason?.replaceAll('\0', '\ufffd') ?? null, from],
  }
  if (!('killedBy' in end)) return (await store.query<SandboxRow>(statement))[0]
  return store.transaction(async (client) => {
    const [row] = (await client.query<SandboxRow>(statement)).rows
    if (row !== undefined)
      await recordAudit(client, end.killedBy, { type: AuditType.SANDBOX, event: 'killed', entityId: id })
    return row
  })
}

/** The new deadline is now and the timeout; nothing where it runs no more. */
export async function moveDeadline(
  store: Store,
  asker: Member,
  id: string,
  timeoutMs: number,
): Promise<SandboxRow | undefined> {
  return store.transactionFor(asker.team, async (client) => {
    const { rows } = await client.query<SandboxRow>({
      name: 'move_deadline',
      text: `UPDATE sandboxes SET timeout_at = now() + $3 * interval '1 ms'
             WHERE id = $1 AND team = $2 AND ${active} AND timeout_at > now() RETURNING ${columns}`,
      values: [id, asker.team, timeoutMs],
    })
    const [row] = rows
    if (row !== undefined) await recordAudit(client, asker, { type: AuditType.SANDBOX, event: 'updated', entityId: id })
    return row
  })
}

/** Ends those whose time is over; gives their ids. */
export async function endOverdue(store: Store): Promise<string[]> {
  const rows = await store.query<{ id: string }>({
    name: 'end_overdue',
    text: `UPDATE sandboxes SET status = ${SandboxStatus.TIMED_OUT}, ended_at = now(), daemon_address = NULL
           WHERE ${active} AND timeout_at <= now() RETURNING id`,
  })
  return rows.map(({ id }) => id)
}

/** Ends those that should have answered by now, `except` some; gives their ids. */
export async function endUnanswered(
  store: Store,
  afterMs: number,
  { reason, except }: { reason: string; except: string[] },
): Promise<string[]> {
  const rows = await store.query<{ id: string }>({
    name: 'end_unanswered',
    text: `UPDATE sandboxes SET status = ${SandboxStatus.FAILED}, reason = $2, ended_at = now()
           WHERE status = ${SandboxStatus.PENDING} AND created_at <= now() - $1 * interval '1 ms'
             AND id <> ALL ($3::uuid[]) RETURNING id`,
    values: [afterMs, reason, except],
  })
  return rows.map(({ id }) => id)
}

/** Removes those that ended so many days ago. */
export async function removeOld(store: Store, days: number): Promise<void> {
  await store.query({
    name: 'remove_old',
    text: `DELETE FROM sandboxes WHERE status > 2 AND ended_at < now() - $1 * interval '1 day'`,
    values: [days],
  })
}
