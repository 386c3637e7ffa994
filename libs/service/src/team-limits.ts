import type { Environment } from './environment.ts'

const ranges = {
  definitions: { default: 10_000, min: 1, max: 1_000_000 },
  versions: { default: 1000, min: 1, max: 100_000 },
  schedules: { default: 10_000, min: 1, max: 1_000_000 },
  objects: { default: 1_000_000, min: 1 },
  datastoreKeys: { default: 10_000, max: 1_000_000 },
  streams: { default: 100, min: 1, max: 100_000 },
  /** 0: no limit. */
  callsPerSecond: { default: 0, max: 1_000_000 },
  /** Of executions; 0: no limit. */
  databaseBytes: { default: 0 },
}

/** How many things of each kind a team may have, and calls a second; each service takes those of its own. */
export type TeamLimits = Record<keyof typeof ranges, number>

/** Reads TEAM_LIMITS; faults are noted in `env`. */
export function readTeamLimits(env: Environment): TeamLimits {
  return env.integers('TEAM_LIMITS', ranges)
}
