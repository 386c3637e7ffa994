import { type Positions, type Source, sources } from '../../streams/team-changes.ts'

/** Where a reader of a team's stream is, as the ids of its events say. */
export interface StreamPosition {
  /**
   * Of execution, which alone understands it; `none` where it is followed and has named no position; undefined where it is
   * not followed.
   */
  execution: string | undefined
  changes: Positions
  /** Nothing that the reader has not been told of is from before; Unix time in ms, undefined where the id does not say. */
  sinceMs: number | undefined
}

export const none = '-'

const form = /^([^~]*)~(\d{1,19})?~(\d{1,19})?~(\d{1,19})?~([0-9a-z]{1,11})$/

/** The id of an event; of streams of executions alone it is that of execution. */
export function positionText({ execution = '', changes, sinceMs }: StreamPosition): string {
  if (Object.keys(changes).length === 0) return execution === none ? '' : execution
  return [execution, ...sources.map((source) => changes[source] ?? ''), (sinceMs ?? 0).toString(36)].join('~')
}

/** Undefined where it is none. */
export function readPosition(text: string): StreamPosition | undefined {
  if (!text.includes('~')) return { execution: text, changes: {}, sinceMs: undefined }
  const [, execution, ...rest] = form.exec(text) ?? []
  if (execution === undefined) return undefined
  const numbers = sources.flatMap((source: Source, place) => {
    const number = rest[place]
    return number === undefined ? [] : [[source, BigInt(number)] as const]
  })
  if (numbers.some(([, number]) => number >= 2n ** 63n)) return undefined
  const sinceMs = Math.min(parseInt(rest.at(-1) ?? '', 36), Date.now())
  return { execution: execution === '' ? undefined : execution, changes: Object.fromEntries(numbers), sinceMs }
}
