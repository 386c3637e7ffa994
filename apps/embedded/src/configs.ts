import { readCatalogConfig } from '@automation/process-catalog/config'
import { readExecutionConfig } from '@automation/execution/config'
import { readGatewayConfig } from '@automation/gateway/config'
import { readRunnerConfig } from '@automation/runner/config'
import { readSandboxConfig } from '@automation/sandbox/config'
import { readSchedulerConfig } from '@automation/scheduler/config'
import { readStorageConfig } from '@automation/storage/config'
import type { Environment } from '@automation/service'

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
