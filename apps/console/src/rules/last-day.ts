import type { Schemas } from '../api/client.ts'

export const HOUR_MS = 3_600_000

/** The 24 hours that end with the present one, whole, as the statistics have them. */
export function lastDay(nowMs: number): { from: string; to: string } {
  const toMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS + HOUR_MS
  return { from: new Date(toMs - 24 * HOUR_MS).toISOString(), to: new Date(toMs).toISOString() }
}

/** How many executions of a bucket ended without finishing. */
export const failedIn = ({ error, killed, rejected }: Schemas['StatisticsPoint']): number => error + killed + rejected

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
