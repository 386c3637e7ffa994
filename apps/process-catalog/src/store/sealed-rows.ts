import type { SecretBox } from '@automation/database'
import { Failure } from '@automation/errors'
import { signingKeyPlace } from '../signing-keys.ts'
import { variablePlace } from '../variable-rules.ts'
import type { Store } from './store.ts'

interface SealedRow {
  id: string
  ciphertext: Buffer
  keyId: string
}

const tables = [
  { table: 'variables', id: 'id', type: 'uuid', place: variablePlace },
  { table: 'signing_keys', id: 'kid', type: 'text', place: signingKeyPlace },
]
const batchRows = 500

/** Fails with encryption_key_missing where something is stored that no key of ENCRYPTION_KEY opens. */
export async function requireKnownKeys(store: Store, box: SecretBox): Promise<void> {
  const used = await store.statement<{ keyId: string }>({
    text: 'SELECT key_id AS "keyId" FROM variables UNION SELECT key_id FROM signing_keys',
  })
  const unknown = used.filter(({ keyId }) => !box.knows(keyId)).map(({ keyId }) => keyId)
  if (unknown.length === 0) return
  throw new Failure(
    'failed_precondition',
    'encryption_key_missing',
    `ENCRYPTION_KEY lacks a key that stored secrets were encrypted with (key id ${unknown.join(', ')}); put it back, after the new one`,
  )
}

/** Seals anew what older keys of ENCRYPTION_KEY have sealed, so that they can be left out at the next start. */
export async function resealAll(store: Store, box: SecretBox): Promise<void> {
  for (const { table, id, type, place } of tables) {
    for (let more = true; more;) {
      const rows = await store.statement<SealedRow>({
        text: `SELECT ${id} AS id, ciphertext, key_id AS "keyId" FROM ${table} WHERE key_id <> $1 LIMIT ${batchRows}`,
        values: [box.keyId],
      })
      const resealed = rows.map((row) => Buffer.from(box.seal(box.open(row, place(row.id)), place(row.id)).ciphertext))
      // A value that was written meanwhile stays.
      await store.statement({
        text: `UPDATE ${table} SET ciphertext = fresh.ciphertext, key_id = $1
               FROM unnest($2::${type}[], $3::bytea[], $4::bytea[]) AS fresh (id, former, ciphertext)
               WHERE ${table}.${id} = fresh.id AND ${table}.ciphertext = fresh.former`,
        values: [box.keyId, rows.map((row) => row.id), rows.map((row) => row.ciphertext), resealed],
      })
      more = rows.length === batchRows
    }
  }
}
