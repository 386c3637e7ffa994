export interface Span {
  fromMs: number
  toMs: number
}

const HOUR_MS = 3_600_000

/** The time that a chart shows for a list from and to a time: the last day where the list has none. */
export function spanOf({ from, to }: { from?: string; to?: string }, nowMs: number): Span {
  const toMs = to === undefined ? nowMs + 60_000 : Date.parse(to)
  const fromMs = from === undefined ? toMs - 24 * HOUR_MS : Date.parse(from)
  return { fromMs: Math.min(fromMs, toMs - 60_000), toMs }
}

/** Buckets that give a chart some dozens of bars. */
export function bucketOf({ fromMs, toMs }: Span): 'minute' | 'hour' | 'day' {
  const hours = (toMs - fromMs) / HOUR_MS
  return hours <= 3 ? 'minute' : hours <= 24 * 8 ? 'hour' : 'day'
}
