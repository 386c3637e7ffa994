import { createHash } from 'node:crypto'
import { invalid } from '@automation/errors'

const MAX_CHARS = 255

/** The key of a request, and a digest of what must be the same for it to count as the same request. */
export interface IdempotencyKey {
  key: string
  requestHash: Uint8Array
}

/**
 * Reads the header Idempotency-Key; undefined when there is none. `parts` are the request's raw body, its encoded query
 * and the version tag. Failure: invalid_input.
 */
export function idempotencyKey(
  header: string | string[] | undefined,
  parts: { body: Uint8Array; query: string; tag: string },
): IdempotencyKey | undefined {
  if (header === undefined || header === '') return undefined
  const key = String(header)
  if (key.length > MAX_CHARS)
    throw invalid('/Idempotency-Key', `Idempotency-Key is longer than ${MAX_CHARS} characters`)
  const digest = createHash('sha256')
  for (const part of [parts.tag, parts.query]) digest.update(`${part.length}:`).update(part)
  return { key, requestHash: digest.update(parts.body).digest() }
}
