/**
 * The process that all installations of packages belong to, as execution asks the catalog for them and keeps them. No
 * process is made with this id.
 */
export const installsProcessId = '00000000-0000-0000-0000-000000000000'

/** What is told of a run that a stop of the service has ended. */
export const serviceStopped = 'service stopped'

/** What is told of a run whose runner is lost; why may follow, behind a colon. */
export const runnerLost = 'runner lost'

/** What a runner tells of runs that it ended as it was cut off from the service. */
export const runnerCutOff = 'RunnerLost'

/** How long the run of an install may take. Its installer has somewhat less, so that it can tell what it did last. */
export const installTimeoutMs = 600_000
