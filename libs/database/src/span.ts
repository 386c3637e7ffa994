/** Pieces of time in UTC, numbered one after the other, whose names are digits and sort by time. */
export interface Span {
  /** The one that this Unix time in ms belongs to. */
  at(timeMs: number): number
  startMs(span: number): number
  name(span: number): string
  nameLength: number
}

const dayMs = 86_400_000

/** Named like `20261120`. */
export const days: Span = {
  at: (timeMs) => Math.floor(timeMs / dayMs),
  startMs: (day) => day * dayMs,
  name: (day) => named(day * dayMs, 10),
  nameLength: 8,
}

/** Named like `202611`. */
export const months: Span = {
  at: (timeMs) => {
    const date = new Date(timeMs)
    return date.getUTCFullYear() * 12 + date.getUTCMonth()
  },
  startMs: (month) => Date.UTC(Math.floor(month / 12), month % 12),
  name: (month) => named(Date.UTC(Math.floor(month / 12), month % 12), 7),
  nameLength: 6,
}

function named(timeMs: number, characters: number): string {
  const date = new Date(timeMs)
  return Number.isNaN(date.getTime()) ? 'never' : date.toISOString().slice(0, characters).replaceAll('-', '')
}
