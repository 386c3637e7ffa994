import { isIP } from 'node:net'
import type { Environment } from '@automation/service'

export type IsolationLevel = 'namespaces' | 'pod' | 'none'
/**
 * Whose network a child has: one of its own, which only leads out, that of the host, or `alone`: a loopback of its own
 * that leads nowhere.
 */
export type NetworkName = 'own' | 'host' | 'alone'

export interface IsolationConfig {
  wanted: 'auto' | IsolationLevel
  network: 'auto' | 'own' | 'host'
  /** Several teams may be served in isolation that does not part them, or where their runs share a network. */
  manyTeamsAnyway: boolean
  /** Private ranges (CIDRs) that a network of a child's own leads to. */
  egressAllow: string[]
  /** Of the service itself: no child reaches them. */
  closedPorts: number[]
}

/** Reads the settings of the isolation; faults are noted in the environment. */
export function readIsolationConfig(env: Environment): IsolationConfig {
  return {
    wanted: env.choice('ISOLATION', ['auto', 'namespaces', 'pod', 'none'], 'auto'),
    network: env.choice('ISOLATION_NETWORK', ['auto', 'own', 'host'], 'auto'),
    manyTeamsAnyway: env.boolean('ISOLATION_MANY_TEAMS', false),
    egressAllow: env.list('EGRESS_ALLOW', []).filter((entry) => isRange(entry) || faulty(env, entry)),
    closedPorts: env.list('RUNNER_CLOSED_PORTS', []).flatMap((entry) => {
      const port = /^\d{1,5}$/.test(entry) ? Number(entry) : 0
      if (port > 0 && port < 65_536) return [port]
      env.fault('RUNNER_CLOSED_PORTS', `has ${JSON.stringify(entry)}, which is no port`)
      return []
    }),
  }
}

function isRange(entry: string): boolean {
  const [address = '', bits] = entry.split('/')
  const family = isIP(address)
  return family !== 0 && (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)))
}

function faulty(env: Environment, entry: string): false {
  env.fault('EGRESS_ALLOW', `has ${JSON.stringify(entry)}, which is no address and no CIDR`)
  return false
}
