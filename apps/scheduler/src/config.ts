import { readTeamLimits, type Environment } from '@automation/service'

export interface SchedulerConfig {
  databaseUrl: string
  /** How many days a firing is known after it was decided. */
  retentionDays: number
  teamMaxSchedules: number
}

/** Reads the settings of the scheduler; faults are noted in `env`. */
export function readSchedulerConfig(env: Environment): SchedulerConfig {
  const databaseUrl = env.secret('DATABASE_URL')
  if (databaseUrl === undefined) env.fault('DATABASE_URL', 'must be set')
  return {
    databaseUrl: databaseUrl ?? '',
    retentionDays: env.integer('RETENTION_DAYS', { default: 30, min: 1, max: 3650 }),
    teamMaxSchedules: readTeamLimits(env).schedules,
  }
}
