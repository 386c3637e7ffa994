import type { Environment } from '@automation/service'
import { readSystemSettings, type SystemSettings } from '../settings.ts'

/** Where services serve each other, and where they tell how they are. */
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

export interface ServicesSettings extends SystemSettings {
  ports: typeof usualPorts
}

/** Reads what the supervisor of the services needs; faults are noted in the environment. */
export function readServicesSettings(env: Environment): ServicesSettings {
  return { ...readSystemSettings(env), ports: readPorts(env) }
}

function readPorts(env: Environment): typeof usualPorts {
  const ports = { ...usualPorts }
  for (const pair of env.list('SERVICE_PORTS', [])) {
    const [, name = '', port] = /^(\w+)=(\d{1,5})$/.exec(pair) ?? []
    if (Object.hasOwn(ports, name) && Number(port) > 0 && Number(port) < 65_536)
      ports[name as keyof typeof ports] = Number(port)
    else
      env.fault('SERVICE_PORTS', `must be name=port of ${Object.keys(ports).join(', ')}, not ${JSON.stringify(pair)}`)
  }
  return ports
}
