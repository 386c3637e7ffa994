import { readDatabaseUrl, readTeamLimits, type Environment } from '@automation/service'

export interface SchedulerConfig {
  databaseUrl: string
  /** How many days a firing is known after it was decided. */
  retentionDays: number
  teamMaxSchedules: number
}

/** Reads the settings of the scheduler; faults are noted in `env`. */
export function readSchedulerConfig(env: Environment): SchedulerConfig {
  return {
    databaseUrl: readDatabaseUrl(env),
    retentionDays: env.integer('RETENTION_DAYS', { default: 30, min: 1, max: 3650 }),
    teamMaxSchedules: readTeamLimits(env).schedules,
  }
}
