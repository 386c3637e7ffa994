import type { TestProject } from 'vitest/node'
import { startSystem } from '../system/system.ts'

/** The system that the tests share. */
export interface SystemOfClients {
  host: string
  team: string
  apiToken: string
}

declare module 'vitest' {
  interface ProvidedContext {
    clients: SystemOfClients
  }
}

/** The system that E2E_BASE_URL, E2E_TEAM and E2E_API_TOKEN name, else one of its own. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { E2E_BASE_URL: host, E2E_TEAM: team = 'demo', E2E_API_TOKEN: apiToken = '' } = process.env
  if (host !== undefined) {
    project.provide('clients', { host, team, apiToken })
    return () => Promise.resolve()
  }
  const system = await startSystem({ team: 'clients' })
  project.provide('clients', { host: system.host, team: system.team, apiToken: system.apiToken })
  return () => system.stop()
}
