export { startPostgres, type PostgresOptions, type RunningPostgres } from './postgres.ts'
export { findPostgres } from './found.ts'
export { freePort } from './free-port.ts'
