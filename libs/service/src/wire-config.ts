import { keyMinChars, KeyRingError, readKeyRing, runnerKeyOf, sharedKeys } from '@automation/rpc/key-ring'
import { isPoolToken } from '@automation/rpc/pool-token'
import type { ServeOptions, WireOptions } from '@automation/rpc/wire'
import { isSafeAddress, type Environment } from './environment.ts'
import { addressesByPackage, readServiceAddresses, readServicePorts, type CalledService } from './service-addresses.ts'

/** How a part reaches the others and is reached by them, as WireNetwork, `serve` and `serveOperations` want it. */
export interface WireConfig extends Omit<WireOptions, 'tls' | 'cells'> {
  /** There are several cells, and the service calls those of teams; what is in a cell calls its own. */
  hasCells: boolean
  /** Of a runner that reaches the others by way of a gateway, from another network. */
  outside: { url: URL; poolToken: string } | undefined
  grpc: Omit<ServeOptions, 'logger' | 'tls'> | undefined
  /** The folder with what services show each other; undefined: they speak without TLS. */
  tlsFolder: string | undefined
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
  const addresses = addressesByPackage(readServiceAddresses(env))
  const ports = readServicePorts(env)
  const host = env.text('INTERNAL_HOST', '127.0.0.1')
  const health = { host, port: env.integer('HEALTH_PORT', { default: ports[`${service}Health`], max: 65_535 }) }
  const maxMessageBytes = readMaxMessageBytes(env)
  const tlsFolder = env.text('INTERNAL_TLS_DIR')
  const isInCell = service === 'runner' || service === 'execution'
  const hasCells = !isInCell && Object.keys(addresses).some((name) => name.includes('@'))
  const shared = { addresses, hasCells, maxMessageBytes, health, tlsFolder }
  if (key === 'runner') {
    const outside = readOutside(env)
    const runnerKey = outside === undefined ? readKeysOfRunner(env) : ''
    return { ...shared, outside, grpc: undefined, key: { runnerKey } }
  }
  const internalKey = readInternalKey(env, service)
  const runnerKey = readRunnerKey(env)
  const grpc =
    service === 'gateway' || service === 'runner'
      ? undefined
      : { host, port: ports[service], internalKey, runnerKey, maxMessageBytes }
  return { ...shared, outside: undefined, grpc, key: { internalKey } }
}

/** Undefined where neither is set: the runner is in the network of the others. */
function readOutside(env: Environment): WireConfig['outside'] {
  const text = env.url('RUNNER_URL')
  const poolToken = env.secret('RUNNER_TOKEN')
  if (text === undefined && poolToken === undefined) return undefined
  if (text === undefined) env.fault('RUNNER_URL', 'is missing beside RUNNER_TOKEN: where the gateway serves runners')
  if (poolToken === undefined) env.fault('RUNNER_TOKEN', 'is missing beside RUNNER_URL: the token of a pool')
  else if (!isPoolToken(poolToken)) env.fault('RUNNER_TOKEN', 'is no token of a pool: one begins with pool_')
  if (env.secret('RUNNER_KEY') !== undefined) env.fault('RUNNER_KEY', 'must not be set beside RUNNER_URL')
  const url = URL.parse(text ?? '') ?? new URL('https://invalid.invalid')
  if (text !== undefined && !isSafeHost(url))
    env.fault('RUNNER_URL', 'must be https:// with a host and, if need be, a port: the token goes there')
  return { url, poolToken: poolToken ?? '' }
}

function isSafeHost(url: URL): boolean {
  const { hostname, pathname, search, username } = url
  return hostname !== '' && pathname === '/' && search === '' && username === '' && isSafeAddress(url)
}

function readInternalKey(env: Environment, service: ProgramName): string {
  const keys = env.secret('INTERNAL_KEY')
  if (keys === undefined) env.fault('INTERNAL_KEY', 'must be set: the same random text for all services')
  else checkKeys(env, 'INTERNAL_KEY', keys)
  // They are what the tokens of runs are made of.
  if (keys !== undefined && service !== 'gateway' && sharedKeys(keys).length === 0)
    env.fault('INTERNAL_KEY', "must have a key that the services share, beside those that are one's own")
  return keys ?? ''
}

/** Undefined where they are those that INTERNAL_KEY makes. */
function readRunnerKey(env: Environment): string | undefined {
  const keys = env.secret('RUNNER_KEY')
  if (keys !== undefined) checkKeys(env, 'RUNNER_KEY', keys)
  return keys
}

function readKeysOfRunner(env: Environment): string {
  const given = readRunnerKey(env)
  if (given !== undefined) return given
  const internalKey = env.secret('INTERNAL_KEY')
  if (internalKey === undefined) env.fault('RUNNER_KEY', 'must be set')
  return runnerKeyOf(internalKey ?? '')
}

/** The keys that runners share, of which those of single pods are made; faults are noted in `env`. */
export function readSharedRunnerKey(env: Environment): string {
  const keys = readKeysOfRunner(env)
  if (keys !== '' && sharedKeys(keys).length === 0) env.fault('RUNNER_KEY', 'must have a key that all runners share')
  return keys
}

function checkKeys(env: Environment, setting: string, keys: string): void {
  try {
    readKeyRing(keys, keyMinChars)
  } catch (error) {
    if (!(error instanceof KeyRingError)) throw error
    env.fault(setting, error.message)
  }
}

/** Between services, one message holds the largest body, a run's value, or a page of a list with all that it may show. */
function readMaxMessageBytes(env: Environment): number {
  const body = env.integer('BODY_MAX_BYTES', { default: 10 * mebibyte })
  const value = env.integer('RETURN_VALUE_MAX_BYTES', { default: 5 * mebibyte })
  // Of a body there are the parameters and the request, each at most twice as large as JSON.
  const needed = 4 * body + value + 4 * mebibyte
  return Math.min(Math.max(160 * mebibyte, needed), 2 ** 31 - 1)
}
