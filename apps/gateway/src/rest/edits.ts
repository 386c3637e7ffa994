import { invalid } from '@automation/errors'
import { z } from '@hono/zod-openapi'
import type { RefusalCodes, Reply, Success } from './operation.ts'

/** What the document says of operations that are `conditional`. */
export const CONDITIONAL = {
  headers: z.object({
    'If-Match': z.string().optional().openapi({
      description:
        'Entity tags, such as the ETag that the record was read with: where the record has another one now, nothing is done',
    }),
  }),
  refusals: { 400: ['invalid_input'], 412: ['changed_meanwhile'] } satisfies RefusalCodes,
}

/** A success whose answer names the state of the record. */
export function tagged<S extends z.ZodType>(success: Success<S, z.ZodNever, z.ZodNever>): typeof success {
  return { ...success, headers: { ...success.headers, ETag: 'Of the record; each edit gives it another one' } }
}

/** The same as an answer. */
export function taggedReply<R>({ etag }: { etag: string }, body?: R): Reply<R> {
  // A service of a former release names none.
  return { ...(body !== undefined && { body }), ...(etag !== '' && { headers: { ETag: etag } }) }
}

const TAG = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"'
// Between commas there may be nothing.
const MEMBER = new RegExp(`[ \\t]*(?:(${TAG})[ \\t]*)?(?:,|$)`, 'y')

/**
 * The entity tags of a header If-Match, none where it asks for nothing. A weak one is among them and is that of no record.
 * Failure: invalid_input at `/If-Match`.
 */
export function ifMatchFrom(header: string | undefined): string[] {
  const text = header?.trim() ?? ''
  // Any state will do, and what is not there is not found.
  if (text === '' || text === '*') return []
  const tags: string[] = []
  for (MEMBER.lastIndex = 0; MEMBER.lastIndex < text.length;) {
    const found = MEMBER.exec(text)
    if (found === null) throw malformed()
    if (found[1] !== undefined) tags.push(found[1])
  }
  if (tags.length === 0) throw malformed()
  return tags
}

function malformed() {
  return invalid('/If-Match', 'must be * or entity tags in their quotes, as the header ETag of an answer has them')
}
