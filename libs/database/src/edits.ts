import { createHash } from 'node:crypto'
import { Failure, type PresentState } from '@automation/errors'

/** Which edit of a record a row has, and whose. */
export interface EditedRow {
  id: string
  /** Rises with each edit. */
  revision: number
  createdBy: string
  createdAt: Date
  updatedBy: string | null
  updatedAt: Date | null
}

/** The entity tag of a record's state, with its quotes. */
export function entityTag({ id, revision, updatedAt }: Pick<EditedRow, 'id' | 'revision' | 'updatedAt'>): string {
  // With the time: numbers of edits that a restored database has lost are given once more.
  return tagOf(`${id} ${revision} ${updatedAt?.getTime() ?? ''}`)
}

/** The entity tag of a text, with its quotes. */
export function tagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
}

/**
 * Fails with changed_meanwhile where a caller asks for some state of a record and it has another one. Call it in the
 * transaction of the change, once nobody else can change the row. `ifMatch` are entity tags; none asks for nothing.
 */
export function requireUnchanged(ifMatch: readonly string[], row: EditedRow): void {
  const { createdBy, createdAt, updatedBy, updatedAt } = row
  requireTag(ifMatch, {
    etag: entityTag(row),
    updatedBy: updatedBy ?? createdBy,
    updatedAt: (updatedAt ?? createdAt).toISOString(),
  })
}

const shownCharacters = 255

/** The same for a record whose present state is known. */
export function requireTag(ifMatch: readonly string[], present: PresentState): void {
  if (ifMatch.length === 0 || ifMatch.includes(present.etag)) return
  // What a token's issuer calls somebody may be longer than a failure can be.
  const updatedBy = present.updatedBy.slice(0, shownCharacters)
  const { updatedAt } = present
  const text = `It is not as If-Match has it: ${updatedBy} wrote it at ${updatedAt}. Read it again, and make the change to what it is now`
  throw new Failure('failed_precondition', 'changed_meanwhile', text, { present: { ...present, updatedBy } })
}
