import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ServicePlan } from './plan.ts'
import type { Supervised } from './supervised.ts'

/** Writes DATA_DIR/services.json: who runs, for people and for tests that end one of them. */
export function writeServicesFile(dataDir: string, running: { plan: ServicePlan; service: Supervised }[]): void {
  const services = Object.fromEntries(
    running.map(({ plan, service }) => [
      plan.name,
      { pid: service.pid() ?? null, starts: service.starts(), health: plan.healthUrl },
    ]),
  )
  const path = join(dataDir, 'services.json')
  writeFileSync(`${path}.new`, `${JSON.stringify({ supervisor: process.pid, services }, null, 2)}\n`)
  renameSync(`${path}.new`, path)
}
