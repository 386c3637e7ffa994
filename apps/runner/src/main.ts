import { partsOf } from '@automation/rpc/address'
import { readServiceAddresses, readServicePorts, runPart, type Environment } from '@automation/service'
import { createRunner, readRunnerConfig, type RunnerConfig } from './service.ts'

// This and the service's other processes: nothing that runs here may reach them.
function readConfig(env: Environment): RunnerConfig {
  const config = readRunnerConfig(env)
  const { execution, storage } = readServiceAddresses(env)
  const healthPort = env.integer('HEALTH_PORT', { default: readServicePorts(env).runnerHealth })
  // From another network they are out of reach anyhow.
  const others = env.url('RUNNER_URL') === undefined ? [...execution, ...storage] : []
  const ports = [healthPort, ...others.map((each) => partsOf(each).port)]
  config.isolation.closedPorts.push(...ports.filter((port) => port > 0 && port < 65_536))
  return config
}

await runPart({
  name: 'runner',
  readConfig,
  // As a request to stop: what comes meanwhile is still run.
  create: (config, context) => createRunner(config, context, () => process.kill(process.pid, 'SIGTERM')),
  service: 'runner',
  key: 'runner',
})
