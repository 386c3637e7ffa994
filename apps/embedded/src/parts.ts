import { createCatalog, readCatalogConfig } from '@automation/process-catalog'
import { createExecution, readExecutionConfig } from '@automation/execution'
import { createGateway, readGatewayConfig } from '@automation/gateway'
import type { InProcessNetwork } from '@automation/rpc'
import { createRunner, readRunnerConfig } from '@automation/runner'
import { createSandboxes, readSandboxConfig } from '@automation/sandbox'
import { createScheduler, readSchedulerConfig } from '@automation/scheduler'
import type { Environment, Part, PartContext } from '@automation/service'
import { createStorage, readStorageConfig } from '@automation/storage'

/** The configuration of every part; faults are noted in the environment. */
export function readConfigs(env: Environment) {
  const configs = {
    catalog: readCatalogConfig(env),
    // The data folder is held by one process alone, so whatever a former one ran is lost for sure.
    execution: { ...readExecutionConfig(env), exclusive: true },
    runner: readRunnerConfig(env),
    storage: readStorageConfig(env),
    sandbox: readSandboxConfig(env),
    scheduler: readSchedulerConfig(env),
    gateway: readGatewayConfig(env),
  }
  // The only runner would wait for runs of a pool that nobody can ask for.
  const { pools } = configs.execution
  if (!pools.includes(configs.runner.pool)) env.fault('RUNNER_POOL', `must be one of AGENT_POOLS: ${pools.join(', ')}`)
  return configs
}

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
