import { createCatalog } from '@automation/process-catalog'
import { createExecution } from '@automation/execution'
import { createGateway } from '@automation/gateway'
import type { InProcessNetwork } from '@automation/rpc'
import { createRunner } from '@automation/runner'
import { createSandboxes } from '@automation/sandbox'
import { createScheduler } from '@automation/scheduler'
import type { Part, PartContext } from '@automation/service'
import { createStorage } from '@automation/storage'
import type { readConfigs } from './configs.ts'

/** Every part of the system in one process, each after those that it calls. */
export function createParts(
  configs: ReturnType<typeof readConfigs>,
  network: InProcessNetwork,
  shared: Omit<PartContext, 'neighbours'>,
): Part[] {
  const context = (part: string): PartContext => ({
    neighbours: network,
    ...shared,
    logger: shared.logger.child({ part }),
  })
  const parts = [
    createCatalog(configs.catalog, context('process-catalog')),
    createExecution(configs.execution, context('execution')),
    createStorage(configs.storage, context('storage')),
    createRunner(configs.runner, context('runner')),
    createSandboxes(configs.sandbox, context('sandbox')),
    createScheduler(configs.scheduler, context('scheduler')),
    createGateway(configs.gateway, context('gateway')),
  ]
  for (const part of parts) network.add(part.serves)
  return parts
}
