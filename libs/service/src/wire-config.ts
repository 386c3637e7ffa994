import { createHmac } from 'node:crypto'
import type { ServeOptions, WireOptions } from '@automation/rpc/wire'
import type { Environment } from './environment.ts'

/** How a part reaches the others and is reached by them, as WireNetwork, `serve` and `serveOperations` want it. */
export interface WireConfig extends WireOptions {
  grpc: Omit<ServeOptions, 'logger'> | undefined
  health: { host: string; port: number } | undefined
}

interface Wants {
  ports?: { grpc?: number; health?: number }
  key?: 'internal' | 'runner'
}

const mebibyte = 1024 * 1024

/** Reads them; faults are noted in `env`. */
export function readWireConfig(env: Environment, { ports = {}, key = 'internal' }: Wants): WireConfig {
  const executions = env.list('EXECUTION_ADDRESSES', ['127.0.0.1:9102'])
  const catalog = [env.text('CATALOG_ADDRESS', '127.0.0.1:9101')]
  const addresses = {
    catalog,
    audit: catalog,
    sandbox: [env.text('SANDBOX_ADDRESS', '127.0.0.1:9105')],
    storage: [env.text('STORAGE_ADDRESS', '127.0.0.1:9104')],
    schedule: [env.text('SCHEDULER_ADDRESS', '127.0.0.1:9106')],
    execution: executions,
    run: executions,
    runner: executions,
  }
  const given = {
    CATALOG_ADDRESS: addresses.catalog,
    SANDBOX_ADDRESS: addresses.sandbox,
    STORAGE_ADDRESS: addresses.storage,
    SCHEDULER_ADDRESS: addresses.schedule,
    EXECUTION_ADDRESSES: executions,
  }
  for (const [name, all] of Object.entries(given))
    if (!all.every((address) => /^\S+:\d{1,5}$/.test(address))) env.fault(name, 'must be host:port')
  const maxMessageBytes = readMaxMessageBytes(env)
  const health = ports.health === undefined ? undefined : readListener(env, 'HEALTH', ports.health)
  if (key === 'runner')
    return { addresses, maxMessageBytes, health, grpc: undefined, key: { runnerKey: readRunnerKey(env) } }
  const internalKey = readInternalKey(env)
  const runnerKey = env.secret('RUNNER_KEY')
  const grpc =
    ports.grpc === undefined
      ? undefined
      : { ...readListener(env, 'GRPC', ports.grpc), internalKey, runnerKey, maxMessageBytes }
  return { addresses, maxMessageBytes, health, grpc, key: { internalKey } }
}

function readListener(env: Environment, name: 'GRPC' | 'HEALTH', port: number): { host: string; port: number } {
  return {
    host: env.text(`${name}_HOST`, '127.0.0.1'),
    port: env.integer(`${name}_PORT`, { default: port, max: 65_535 }),
  }
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
