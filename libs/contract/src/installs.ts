/**
 * The process that all installations of packages belong to, as execution asks the catalog for them and keeps them. No
 * process is made with this id.
 */
export const installsProcessId = '00000000-0000-0000-0000-000000000000'

/** How long the run of an install may take. Its installer has somewhat less, so that it can tell what it did last. */
export const installTimeoutMs = 600_000
