import { isTeamSlug } from '@automation/contract/forms'
import type { Environment } from './environment.ts'

const usualPorts = {
  catalog: 9101,
  execution: 9102,
  storage: 9104,
  sandbox: 9105,
  scheduler: 9106,
  gatewayHealth: 9200,
  catalogHealth: 9201,
  executionHealth: 9202,
  runnerHealth: 9203,
  storageHealth: 9204,
  sandboxHealth: 9205,
  schedulerHealth: 9206,
}
const called = ['catalog', 'execution', 'storage', 'sandbox', 'scheduler'] as const

/** A service that others call. */
export type CalledService = (typeof called)[number]

/** Where each service serves gRPC, and where it tells how it is. */
export type ServicePorts = typeof usualPorts

/** That of another cell than the first, called after it. */
type CellService = `execution@${string}`

/** Every replica of each service, as host:port. */
export type ServiceAddresses = Record<CalledService, string[]> & Partial<Record<CellService, string[]>>

/** Reads SERVICE_PORTS; faults are noted in `env`. */
export function readServicePorts(env: Environment): ServicePorts {
  const ranges = Object.entries(usualPorts).map(([name, port]) => [name, { default: port, min: 1, max: 65_535 }])
  return env.integers('SERVICE_PORTS', Object.fromEntries(ranges) as Record<keyof ServicePorts, { default: number }>)
}

/** What SERVICE_ADDRESSES names, and nothing else; faults are noted in `env`. */
export function readGivenAddresses(env: Environment): Partial<ServiceAddresses> {
  const cells = env
    .list('SERVICE_ADDRESSES', [])
    .map((pair) => pair.split('=', 1)[0] ?? '')
    .filter(isCellService)
  const given = Map.groupBy(env.pairs('SERVICE_ADDRESSES', [...called, ...cells]), ([name]) => name)
  const addresses = [...given].map(([name, pairs]) => [name, pairs.map(([, address]) => address)] as const)
  for (const [name, all] of addresses)
    if (!all.every((address) => /^\S+:\d{1,5}$/.test(address)))
      env.fault(`SERVICE_ADDRESSES: ${name}`, `must be host:port, not ${JSON.stringify(all.join())}`)
  return Object.fromEntries(addresses)
}

/** Whether it names the execution of a cell, such as `execution@blue`. */
function isCellService(name: string): name is CellService {
  return name.startsWith('execution@') && isTeamSlug(name.slice('execution@'.length))
}

/** Where each service is: what SERVICE_ADDRESSES names, and the others on this machine. */
export function readServiceAddresses(env: Environment): ServiceAddresses {
  const ports = readServicePorts(env)
  const here = called.map((name) => [name, [`127.0.0.1:${ports[name]}`]])
  return { ...(Object.fromEntries(here) as ServiceAddresses), ...readGivenAddresses(env) }
}

const areasOf: Record<CalledService, string[]> = {
  catalog: ['catalog', 'audit'],
  execution: ['execution', 'run', 'runner'],
  storage: ['storage'],
  sandbox: ['sandbox'],
  scheduler: ['schedule'],
}

/** The same by the package of each proto service, as calls name them, with that of another cell as `execution@blue`. */
export function addressesByPackage(addresses: Partial<ServiceAddresses>): Record<string, string[]> {
  const byPackage: Record<string, string[]> = {}
  for (const [name, all] of Object.entries(addresses)) {
    const [service, cell] = name.split('@') as [CalledService, string?]
    if (all !== undefined)
      for (const area of areasOf[service]) byPackage[cell === undefined ? area : `${area}@${cell}`] = all
  }
  return byPackage
}
