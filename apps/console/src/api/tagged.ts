import { parsedExactly } from '../rules/exact-json.ts'
import type { Problem } from './problem.ts'
import { ProblemError } from './problem.ts'

/** A record with the entity tag that it was read with, for edits that overwrite nobody else's. */
export interface Tagged<T> {
  record: T
  etag: string
}

/** The record of an answer that is read as a text, with all digits of its numbers, and its tag. */
export async function exactOf<T>(answer: Promise<{ data?: string; response: Response }>): Promise<Tagged<T>> {
  const { record, etag } = await taggedOf(answer)
  return { record: parsedExactly(record) as T, etag }
}

/** The record of an answer, and its tag. */
export async function taggedOf<T>(answer: Promise<{ data?: T; response: Response }>): Promise<Tagged<T>> {
  const { data, response } = await answer
  if (data === undefined) throw new TypeError('The answer has no body')
  return { record: data, etag: response.headers.get('ETag') ?? '' }
}

export type ChangedMeanwhile = Problem & { etag?: string; updatedBy?: string; updatedAt?: string }

/** What a refused edit says of who was quicker; undefined where it failed for another reason. */
export function changedMeanwhile(error: Error | null): ChangedMeanwhile | undefined {
  return error instanceof ProblemError && error.problem.code === 'changed_meanwhile' ? error.problem : undefined
}
