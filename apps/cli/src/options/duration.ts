import { InvalidArgumentError } from 'commander'

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Whole milliseconds of a duration such as `500ms`, `30s`, `5m`, `1h30m`, `2d`. */
export function duration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text)
    throw new InvalidArgumentError('A duration has a unit: 500ms, 30s, 5m, 1h30m, 2d.')
  return Math.round(parts.reduce((total, [, count, unit]) => total + Number(count) * units[unit!]!, 0))
}

/** A time as RFC 3339 in UTC: `2026-11-24T08:00:00Z` and the like, or so long ago (`1h`). */
export const timeOrAgo = (text: string): string => timeOf(text, -1)

/** The same, or so long from now. */
export const timeOrFromNow = (text: string): string => timeOf(text, 1)

function timeOf(text: string, direction: 1 | -1): string {
  const isDuration = /^\d+(\.\d+)?(ms|s|m|h|d)/.test(text)
  // Of a number alone `Date.parse` would make a year.
  const written = /^\d{4}-/.test(text) ? Date.parse(text) : NaN
  const time = new Date(isDuration ? Date.now() + direction * duration(text) : written)
  if (Number.isNaN(time.getTime()))
    throw new InvalidArgumentError(
      `A time is so long ${direction === 1 ? 'from now' : 'ago'} (1h, 2d) or such as 2026-11-24T08:00:00Z.`,
    )
  return time.toISOString()
}

/** A whole number from `least` to `most`. */
export const wholeNumber =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const number = Number(text)
    if (Number.isSafeInteger(number) && number >= least && number <= most) return number
    const range = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`
    throw new InvalidArgumentError(`It is a whole number ${range}.`)
  }

/** A value that may be given several times, or joined by commas. */
export const several = (text: string, before: string[] = []): string[] => [
  ...before,
  ...text.split(',').map((one) => one.trim()),
]
