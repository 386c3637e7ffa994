import { isTeamSlug } from '@automation/contract/forms'
import { readKafkaConfig, type Connect, type KafkaConfig } from '@automation/events'
import { readDatabaseUrl, readShutdownGraceMs, readTeamLimits, type Environment } from '@automation/service'
import { checkEgressAllow } from './react/egress.ts'
import type { WaitingStatus } from './status.ts'

/** What execution reads from the environment; every name ends in its unit where it has one. */
export interface ExecutionConfig {
  databaseUrl: string
  /** What the catalog calls the cell that this is the execution of; '' is the first, or the only one. */
  cell: string
  /** Signs calls between services; the keys of run tokens are derived from it. */
  internalKey: string
  /** Names of the pools that runs may ask for; the first is the one for runs that ask for none, unless `default` is there. */
  pools: string[]
  /** What records and lists show of runs that wait for a slot. */
  waitingStatus: WaitingStatus
  teamMaxRunning: number
  teamMaxQueued: number
  /** Bytes of the database that a team's executions may take; 0 is no limit. */
  teamMaxDatabaseBytes: number
  runTimeoutMs: number
  runTimeoutMaxMs: number
  parametersMaxBytes: number
  returnValueMaxBytes: number
  logMaxLines: number
  logMaxBytes: number
  /** Of one run: its source with modules, variables and schema. */
  runSpecMaxBytes: number
  /** What this replica keeps of them for the next runs. */
  specCacheBytes: number
  retentionDays: number
  /** Days beyond today whose partitions are kept ready, where other than 14; set by tests only. */
  partitionDays?: number
  /** How often queues and events are measured, in ms, where other than 5 s; set by tests only. */
  measureMs?: number
  /** How long a runner's session lives without being renewed. */
  runnerLeaseMs: number
  /** CIDRs and addresses beyond the public internet that callbacks may go to. */
  egressAllow: string[]
  /** How often a callback is tried before it is given up, and how long one try may take. */
  callbackTries: number
  callbackTimeoutMs: number
  /** Pause after the first failed try; it doubles with each further one, up to an hour. */
  callbackPauseMs: number
  /** For so long what a part of ours has no good answer for is tried again before an error handler is given up. */
  errorHandlerPatienceMs: number
  /** Where lifecycle events are published; absent: they stay in the outbox, and consumers read them there. */
  kafka?: KafkaConfig
  /** How connections to Kafka are made; set by tests of faults only. */
  kafkaConnect?: Connect
  shutdownGraceMs: number
  /** No other process uses this database: whatever RUNNING is found at the start was cut off. Set by embedded only. */
  exclusive: boolean
}

const mib = 1024 * 1024

/** Reads and checks the settings of execution; faults are collected in `env`. */
export function readExecutionConfig(env: Environment): ExecutionConfig {
  const cell = cellName(env)
  const runTimeoutMaxMs = env.integer('RUN_TIMEOUT_MAX_MS', { default: 3_600_000, min: 100, max: 2_147_483_647 })
  return {
    databaseUrl: readDatabaseUrl(env),
    cell,
    internalKey: required(env, 'INTERNAL_KEY', env.secret('INTERNAL_KEY')),
    pools: poolNames(env),
    waitingStatus: env.choice('WAITING_STATUS', ['QUEUED', 'CREATED'], 'QUEUED'),
    teamMaxRunning: env.integer('TEAM_MAX_RUNNING', { default: 50, min: 1, max: 1_000_000 }),
    teamMaxQueued: env.integer('TEAM_MAX_QUEUED', { default: 10_000, min: 0, max: 100_000_000 }),
    teamMaxDatabaseBytes: readTeamLimits(env).databaseBytes,
    runTimeoutMs: env.integer('RUN_TIMEOUT_MS', {
      default: Math.min(300_000, runTimeoutMaxMs),
      min: 100,
      max: runTimeoutMaxMs,
    }),
    runTimeoutMaxMs,
    parametersMaxBytes: env.integer('PARAMETERS_MAX_BYTES', { default: 1_048_576, min: 2 }),
    returnValueMaxBytes: env.integer('RETURN_VALUE_MAX_BYTES', { default: 5_242_880, min: 16 }),
    logMaxLines: env.integer('LOG_MAX_LINES', { default: 10_000, min: 1 }),
    logMaxBytes: env.integer('LOG_MAX_BYTES', { default: 5 * mib, min: 1 }),
    runSpecMaxBytes: 32 * mib,
    specCacheBytes: 128 * mib,
    retentionDays: env.integer('RETENTION_DAYS', { default: 30, min: 1, max: 3650 }),
    runnerLeaseMs: env.integer('RUNNER_LEASE_MS', { default: 15_000, min: 150, max: 600_000 }),
    egressAllow: checkEgressAllow(env, env.list('EGRESS_ALLOW', [])),
    callbackTries: 15,
    callbackTimeoutMs: 10_000,
    callbackPauseMs: 1000,
    errorHandlerPatienceMs: 20_000,
    kafka: readKafkaConfig(env, cell),
    shutdownGraceMs: readShutdownGraceMs(env),
    exclusive: false,
  }
}

function cellName(env: Environment): string {
  const name = env.text('CELL', '')
  if (name !== '' && !isTeamSlug(name)) env.fault('CELL', 'must be 1 to 63 of a-z, 0-9 and inner hyphens')
  return name
}

function poolNames(env: Environment): string[] {
  const names = env.list('AGENT_POOLS', ['default'])
  if (names.length === 0 || !names.every(isTeamSlug))
    env.fault('AGENT_POOLS', 'must be names of 1 to 63 of a-z, 0-9 and inner hyphens, separated by commas')
  return names
}

function required(env: Environment, name: string, value: string | undefined): string {
  if (value === undefined) env.fault(name, 'is required')
  return value ?? ''
}
