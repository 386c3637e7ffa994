import { runPart, type Environment } from '@automation/service'
import { createRunner, readRunnerConfig, type RunnerConfig } from './service.ts'

const healthPort = 9203

// This and the service's other processes: nothing that runs here may reach them.
function readConfig(env: Environment): RunnerConfig {
  const config = readRunnerConfig(env)
  const addresses = [
    ...env.list('EXECUTION_ADDRESSES', ['127.0.0.1:9102']),
    env.text('STORAGE_ADDRESS', '127.0.0.1:9104'),
  ]
  const ports = [env.integer('HEALTH_PORT', { default: healthPort }), ...addresses.map((each) => portOf(each))]
  config.isolation.closedPorts.push(...ports.filter((port) => port > 0 && port < 65_536))
  return config
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1)) || 0
}

await runPart({
  name: 'runner',
  readConfig,
  // As a request to stop: what comes meanwhile is still run.
  create: (config, context) => createRunner(config, context, () => process.kill(process.pid, 'SIGTERM')),
  ports: { health: healthPort },
  key: 'runner',
})
