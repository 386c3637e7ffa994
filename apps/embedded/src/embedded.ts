import { Failure } from '@automation/errors'
import { InProcessNetwork } from '@automation/rpc'
import { addressOf } from '@automation/rpc/address'
import {
  Environment,
  runProgram,
  serveOperations,
  StopOrder,
  type OperationsServer,
  type Part,
  type ProgramContext,
  type Running,
} from '@automation/service'
import { serveAdmin } from './admin/admin-server.ts'
import { bootstrap } from './bootstrap.ts'
import { closedPorts } from './closed-ports.ts'
import { takeDataDir } from './data-dir.ts'
import { systemDatabase } from './database.ts'
import { environmentToCome, gives, withDataDir, type EnvironmentValues } from './environment.ts'
import { readConfigs } from './configs.ts'
import { type SystemSettings, readSystemSettings } from './settings.ts'
import { welcome } from './banner.ts'
import { buildConsole } from './console/console-build.ts'

/** Runs the whole system in this process until it is told to stop. */
export function runEmbedded(values: EnvironmentValues): Promise<void> {
  const toCome = environmentToCome(values)
  return runProgram({
    name: 'embedded',
    values: toCome.values,
    shown: toCome.shown,
    progress: 'Starting',
    readConfig: (env) => readEmbedded(env).settings,
    start: (settings, context) => start(values, settings, context),
  })
}

async function start(given: EnvironmentValues, settings: SystemSettings, context: ProgramContext): Promise<Running> {
  const order = new StopOrder(context.logger)
  try {
    await startAll(given, settings, context, order)
    return order
  } catch (error) {
    await order.stop(0)
    throw error
  }
}

async function startAll(
  given: EnvironmentValues,
  settings: SystemSettings,
  context: ProgramContext,
  order: StopOrder,
): Promise<void> {
  const { logger, metrics, health, tracer, stopping } = context
  const dataDir = await takeDataDir(settings.dataDir, 'embedded')
  order.add('data folder', () => dataDir.release())
  const operations = await openOperations(settings.health, gives(given, 'HEALTH_PORT'), context)
  order.add('operations', () => operations.close())
  const ownDatabase = !gives(given, 'DATABASE_URL')
  // They load while PostgreSQL makes its files.
  const [databaseUrl, { createParts }] = await Promise.all([
    systemDatabase({ settings, given: !ownDatabase, logger, order }),
    import('./parts.ts'),
  ])
  const RUNNER_CLOSED_PORTS = closedPorts(given, [...settings.gatewayPorts, operations.port], databaseUrl)
  const values = withDataDir({ ...given, DATABASE_URL: databaseUrl, RUNNER_CLOSED_PORTS }, dataDir.path)
  const { configs } = readEmbedded(new Environment(values))
  // The data folder is held by this process alone, so whatever a former one on its database ran is lost for sure.
  configs.execution.exclusive = ownDatabase

  const network = new InProcessNetwork(tracer)
  const parts = createParts(configs, network, { logger, metrics, tracer, readiness: () => health.checks() })
  for (const part of parts) health.watch(part.name, () => part.ready())
  // The gateway stops first, and that takes as long as its callers wait.
  stopping.addEventListener('abort', () => parts.forEach((part) => part.quiesce?.()), { once: true })
  const [gateway, ...inner] = parts.toReversed()
  for (const part of inner.toReversed()) await startPart(part, order, stopping)
  // Nobody sees the system before its first team is there.
  const { bootstrapTeam: team, bootstrapApiToken: apiToken } = settings
  const first = await bootstrap(network, { dataDir: dataDir.path, team, apiToken })
  if (gateway !== undefined) await startPart(gateway, order, stopping)
  const admin = await serveAdmin(dataDir.path, network, logger)
  order.add('admin socket', () => admin.close())
  dataDir.tell({ address: settings.publicUrl, consoleUrl: settings.consoleUrl })
  const healthUrl = `http://${addressOf(settings.health.host, operations.port)}`
  const { publicUrl: address, consoleUrl } = settings
  if (consoleUrl !== undefined) {
    const build = buildConsole(logger)
    order.add('console build', () => build.stop())
  }
  await welcome(network, { ...first, address, consoleUrl, healthUrl, checks: await health.checks() })
}

/** A port that nobody named is no reason not to start: where another system has it, a free one is taken, and said. */
async function openOperations(
  { host, port }: SystemSettings['health'],
  named: boolean,
  { health, metrics, logger }: ProgramContext,
): Promise<OperationsServer> {
  try {
    return await serveOperations({ host, port }, health, metrics)
  } catch (error) {
    if (named || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    const operations = await serveOperations({ host, port: 0 }, health, metrics)
    logger.warn({ taken: port, port: operations.port }, 'HEALTH_PORT is taken; health and metrics are on a free port')
    return operations
  }
}

async function startPart(part: Part, order: StopOrder, stopping: AbortSignal): Promise<void> {
  if (stopping.aborted) throw new Failure('unavailable', 'stopping', 'It was stopped while it started')
  order.add(part.name, (graceMs) => part.stop(graceMs))
  await part.start()
}

/** The settings of the system and of all its parts; faults are noted in the environment. */
function readEmbedded(env: Environment): { settings: SystemSettings; configs: ReturnType<typeof readConfigs> } {
  return { settings: readSystemSettings(env), configs: readConfigs(env) }
}
