import { createHmac } from 'node:crypto'
import type { ServeOptions, WireOptions } from '@automation/rpc/wire'
import type { Environment } from './environment.ts'
import { readServiceAddresses, readServicePorts, type CalledService } from './service-addresses.ts'

/** How a part reaches the others and is reached by them, as WireNetwork, `serve` and `serveOperations` want it. */
export interface WireConfig extends WireOptions {
  grpc: Omit<ServeOptions, 'logger'> | undefined
  health: { host: string; port: number }
}

interface Wants {
  service: ProgramName
  key?: 'internal' | 'runner'
}

/** A service as settings call it. */
export type ProgramName = CalledService | 'gateway' | 'runner'

const mebibyte = 1024 * 1024

/** Reads them; faults are noted in `env`. */
export function readWireConfig(env: Environment, { service, key = 'internal' }: Wants): WireConfig {
  const { catalog, execution, sandbox, storage, scheduler } = readServiceAddresses(env)
  const addresses = {
    catalog,
    audit: catalog,
    sandbox,
    storage,
    schedule: scheduler,
    execution,
    run: execution,
    runner: execution,
  }
  const ports = readServicePorts(env)
  const host = env.text('INTERNAL_HOST', '127.0.0.1')
  const health = { host, port: env.integer('HEALTH_PORT', { default: ports[`${service}Health`], max: 65_535 }) }
  const maxMessageBytes = readMaxMessageBytes(env)
  if (key === 'runner')
    return { addresses, maxMessageBytes, health, grpc: undefined, key: { runnerKey: readRunnerKey(env) } }
  const internalKey = readInternalKey(env)
  const runnerKey = env.secret('RUNNER_KEY')
  const grpc =
    service === 'gateway' || service === 'runner'
      ? undefined
      : { host, port: ports[service], internalKey, runnerKey, maxMessageBytes }
  return { addresses, maxMessageBytes, health, grpc, key: { internalKey } }
}

const keyMinChars = 32

function readInternalKey(env: Environment): string {
  const key = env.secret('INTERNAL_KEY')
  if (key === undefined) env.fault('INTERNAL_KEY', 'must be set: the same random text for all services')
  else if (key.length < keyMinChars) env.fault('INTERNAL_KEY', `must have at least ${keyMinChars} characters`)
  return key ?? ''
}

function readRunnerKey(env: Environment): string {
  const given = env.secret('RUNNER_KEY')
  if (given !== undefined) return given
  const internalKey = env.secret('INTERNAL_KEY')
  if (internalKey === undefined) env.fault('RUNNER_KEY', 'must be set')
  return createHmac('sha256', internalKey ?? '')
    .update('runner')
    .digest('hex')
}

/** Between services, one message holds the largest body, a run's value, or a page of a list with all that it may show. */
function readMaxMessageBytes(env: Environment): number {
  const body = env.integer('BODY_MAX_BYTES', { default: 10 * mebibyte })
  const value = env.integer('RETURN_VALUE_MAX_BYTES', { default: 5 * mebibyte })
  // The text of a body may grow threefold when it is escaped.
  const needed = 3 * body + value + 4 * mebibyte
  return Math.min(Math.max(160 * mebibyte, needed), 2 ** 31 - 1)
}
