import type { Round } from './campaign.ts'

/** A round in one line. */
export function roundLine({
  shape,
  strike,
  reached,
  recoveredMs,
  tookMs,
  phasesMs,
  executions,
  ends,
  violations,
}: Round): string {
  const how = Object.entries(ends)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([status, count]) => `${count} ${status}`)
    .join(', ')
  const verdict =
    violations.length === 0
      ? 'whole'
      : `BROKEN: ${violations.map(({ rule, id, description }) => `${rule} (${id} ${description})`).join('; ')}`
  const point = reached ? strike : `${strike} (not reached, killed all)`
  return `${shape} ${point.padEnd(26)} back ${recoveredMs} ms, ${(tookMs / 1000).toFixed(1)} s (${phasesMs.join(' ')}), ${executions} executions (${how}): ${verdict}`
}

/** What was killed where, how often, and what was found. */
export function tableOf(rounds: Round[]): string {
  const rows = [...Map.groupBy(rounds, ({ shape, strike }) => `${shape.padEnd(9)} ${strike}`)]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, all]) => [
      name.padEnd(36),
      `${all.length}`.padStart(6),
      `${all.filter(({ reached }) => reached).length}`.padStart(8),
      `${sum(all.map(({ executions }) => executions))}`.padStart(11),
      `${sum(all.map(({ violations }) => violations.length))}`.padStart(11),
    ])
  return [['killed'.padEnd(36), ' kills', ' reached', ' executions', ' violations'], ...rows]
    .map((cells) => cells.join(''))
    .join('\n')
}

export function summaryOf(rounds: Round[], seed: number) {
  const ends: Record<string, number> = {}
  for (const round of rounds)
    for (const [status, count] of Object.entries(round.ends)) ends[status] = (ends[status] ?? 0) + count
  return {
    seed,
    kills: rounds.length,
    reached: rounds.filter(({ reached }) => reached).length,
    executions: sum(rounds.map(({ executions }) => executions)),
    ends,
    recoveredMs: { max: Math.max(0, ...rounds.map(({ recoveredMs }) => recoveredMs)) },
    violations: sum(rounds.map(({ violations }) => violations.length)),
  }
}

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0)
