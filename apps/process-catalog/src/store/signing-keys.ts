import { AuditType } from '@automation/contract/audit/v1/audit'
import type { Sealed } from '@automation/database'
import { limits } from '../fields/limits.ts'
import { auditInAll } from './audit.ts'
import type { Author } from './processes.ts'
import type { Store } from './store.ts'
import { noteRevocation } from './team-limits.ts'

/** A signing key as it is kept: the public half as JSON text, the private half sealed. */
export interface KeptKey extends Sealed {
  kid: string
  publicKey: string
}

/** Who replaces or ends keys, for no team: each team has a record of it. */
export type Rotator = Omit<Author, 'team'>

/** Keeps the first key; where there is one already, notes how long the tokens that it signs from now on live. */
export async function keepFirstKey(store: Store, key: KeptKey, tokenTtlS: number): Promise<void> {
  await store.write(async (rows) => {
    await rows.signingKey.createMany({ data: [{ ...key, tokenTtlS }], skipDuplicates: true })
    await rows.signingKey.updateMany({
      where: { verifiableUntil: null, tokenTtlS: { lt: tokenTtlS } },
      data: { tokenTtlS },
    })
  })
}

/**
 * Puts a new key in the place of the one that signs, where that is at least `minAgeDays` old; the former stays
 * verifiable as long as its tokens live. Of two rotations at once one happens.
 */
export function replaceKey(
  store: Store,
  key: KeptKey,
  tokenTtlS: number,
  minAgeDays: number,
  by: Rotator,
): Promise<boolean> {
  return store.write(async (rows) => {
    const retired = await rows.$executeRaw`
      UPDATE signing_keys SET verifiable_until = now() + make_interval(secs => token_ttl_s + ${limits.tokenSlackS}::int)
      WHERE verifiable_until IS NULL AND created_at <= now() - make_interval(days => ${minAgeDays}::int)`
    if (retired === 0) return false
    await rows.signingKey.create({ data: { ...key, tokenTtlS } })
    await auditInAll(rows, by, { type: AuditType.TOKEN, event: 'keys_rotated', entityId: key.kid })
    return true
  })
}

/** Nothing that another key than the present one has signed is valid any more: gateways read the keys anew within seconds. */
export function endFormerKeys(store: Store, by: Rotator): Promise<void> {
  return store.write(async (rows) => {
    await rows.$executeRaw`UPDATE signing_keys SET verifiable_until = now() WHERE verifiable_until > now()`
    await noteRevocation(rows)
    const { kid } = await rows.signingKey.findFirstOrThrow({ where: { verifiableUntil: null }, select: { kid: true } })
    await auditInAll(rows, by, { type: AuditType.TOKEN, event: 'keys_ended', entityId: kid })
  })
}

/** Whether the key that signs is at least so old. */
export async function keyIsOlderThan(store: Store, days: number): Promise<boolean> {
  const found = await store.statement({
    name: 'old_signing_key',
    text: `SELECT 1 FROM signing_keys
           WHERE verifiable_until IS NULL AND created_at <= now() - make_interval(days => $1)`,
    values: [days],
  })
  return found.length > 0
}

/** Throws where there is no key of this id. */
export function findKey(store: Store, kid: string): Promise<KeptKey> {
  return store.read((rows) => rows.signingKey.findUniqueOrThrow({ where: { kid } }))
}

/** The public halves, as JSON texts, of the key that signs and of those whose tokens may still live. */
export async function verifiableKeys(store: Store): Promise<string[]> {
  const found = await store.statement<{ publicKey: string }>({
    name: 'verifiable_keys',
    text: `SELECT public_key AS "publicKey" FROM signing_keys
           WHERE verifiable_until IS NULL OR verifiable_until > now() ORDER BY created_at DESC`,
  })
  return found.map(({ publicKey }) => publicKey)
}

/** Forgets the keys whose tokens have all ended. */
export async function removeEndedKeys(store: Store): Promise<void> {
  await store.statement({ name: 'ended_keys', text: 'DELETE FROM signing_keys WHERE verifiable_until < now()' })
}
