import type { LivingRunner } from '../store/demand.ts'

/** What a pool has, and what waits there. */
export interface PoolLoad {
  /** Those that stay. */
  runners: Pick<LivingRunner, 'oneTeam' | 'team' | 'slots' | 'running' | 'retires'>[]
  /** Runs that a runner may have, by team. */
  waiting: { team: string; runs: number }[]
  /** How many runners of one team each that team may have. */
  mostOf: (team: string) => number
}

/**
 * How many runners a pool should have for what runs and waits in it. Where each serves one team, that is by team, with one
 * more where a team is to get another: the last one that is nobody's is for a team that has none. One that was a team's and
 * does not retire stays that team's, so it is wanted beside those of others. Pure.
 */
export function wantedRunners({ runners, waiting, mostOf }: PoolLoad): number {
  const queued = sum(waiting.map(({ runs }) => runs))
  // How much one takes, and of how many teams, is known once one is there.
  if (runners.length === 0) return queued > 0 ? 1 : 0
  const slots = Math.max(...runners.map((runner) => runner.slots))
  if (!runners.every(({ oneTeam }) => oneTeam)) return Math.ceil((runningOn(runners) + queued) / slots)
  const bound = runners.filter(({ team, running, retires }) => running > 0 || (team !== '' && !retires))
  const needs = [...new Set([...bound, ...waiting].map(({ team }) => team))].map((team) => {
    const own = runners.filter((runner) => runner.team === team)
    const used = bound.filter((runner) => runner.team === team).length
    const runs = runningOn(own) + sum(waiting.filter((each) => each.team === team).map((each) => each.runs))
    const count = Math.max(used, Math.min(Math.ceil(runs / slots), mostOf(team)))
    return { count, grows: own.length > 0 && count > own.length }
  })
  return sum(needs.map(({ count }) => count)) + (needs.some(({ grows }) => grows) ? 1 : 0)
}

function runningOn(runners: PoolLoad['runners']): number {
  return sum(runners.map(({ running }) => running))
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
