import { Failure } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import type { OutsideNetwork } from '@automation/rpc/outside-network'
import type { ServedPort, TlsFolder } from '@automation/rpc/wire'
import type { Logger } from 'pino'
import { readArguments, type Usage } from './arguments.ts'
import { readDatabaseUrl } from './database-url.ts'
import type { Environment } from './environment.ts'
import { ownAddress } from './own-address.ts'
import { openCalls } from './metrics.ts'
import { serveOperations } from './operations.ts'
import type { Part, PartContext } from './part.ts'
import { runProgram, type ProgramContext, type Running } from './program.ts'
import { StopOrder } from './stop-order.ts'
import { CatalogCells } from './team-cells.ts'
import { readWireConfig, type ProgramName, type WireConfig } from './wire-config.ts'

export interface PartProgram<Config> {
  name: string
  readConfig(env: Environment): Config
  create(config: Config, context: PartContext): Part
  /** Its name in SERVICE_PORTS and SERVICE_ADDRESSES. */
  service: ProgramName
  /** `runner` for the part that must not hold INTERNAL_KEY. */
  key?: 'internal' | 'runner'
  /** Brings the part's database up to this release; absent for a part that has none. Waits for one that is not there yet. */
  migrate?(databaseUrl: string, logger: Logger, signal: AbortSignal): Promise<void>
}

/**
 * Runs one part as a process of its own: the environment becomes its configuration, its neighbours are found over gRPC,
 * its services are served, its health and metrics are told, and one signal stops it. With `--migrate` it only brings its
 * database up to date, and ends.
 */
export function runPart<Config>(program: PartProgram<Config>): Promise<void> {
  if (readArguments(usageOf(program)).has('migrate')) return runMigrations(program)
  return runProgram({
    name: program.name,
    readConfig: (env) => ({ wire: readWireConfig(env, program), part: program.readConfig(env) }),
    start: (config, context) => startPart(program, config, context),
  })
}

function usageOf<Config>({ name, key, migrate }: PartProgram<Config>): Usage {
  return {
    // By the Node that is installed with it: the machine's own may be too old.
    command: key === 'runner' ? 'npm run start:runner --' : `node_modules/.bin/node apps/${name}/src/main.ts`,
    about: `Starts ${name} as a process of its own; the others are found over gRPC.`,
    ...(migrate !== undefined && { options: { migrate: 'bring its database up to date, and end' } }),
    settings: {
      ...(migrate !== undefined && { DATABASE_URL: 'its PostgreSQL' }),
      ...(key === 'runner' && {
        RUNNER_URL: 'the address of a gateway, from another network',
        RUNNER_TOKEN: 'the token of a pool, beside it; RUNNER_TOKEN_FILE: a file with it',
      }),
      SERVICE_PORTS: 'where services on this machine serve each other',
      SERVICE_ADDRESSES: 'where services are that are elsewhere',
      HEALTH_PORT: 'where /livez, /readyz and /metrics are',
      LOG_LEVEL: 'how much it logs (info)',
    },
  }
}

/** Needs no setting but DATABASE_URL. */
function runMigrations<Config>({ name, migrate }: PartProgram<Config>): Promise<void> {
  return runProgram({
    name,
    readConfig: readDatabaseUrl,
    start: async (databaseUrl, { logger, stopping }) => {
      await migrate?.(databaseUrl, logger, stopping)
      logger.info('the database is up to date')
      process.exit(0)
    },
  })
}

async function startPart<Config>(
  program: PartProgram<Config>,
  { wire, part: config }: { wire: WireConfig; part: Config },
  { logger, metrics, health, tracer, stopping }: ProgramContext,
): Promise<Running> {
  // Only here, so that a system in one process never loads gRPC.
  const { serve, TlsFolder, WireNetwork } = await import('@automation/rpc/wire')
  const order = new StopOrder(logger)
  const tls = wire.tlsFolder === undefined ? undefined : openTls(TlsFolder, wire.tlsFolder, logger)
  order.add('certificates', () => tls?.close())
  const cells = wire.hasCells ? new CatalogCells(program.name, logger, () => network) : undefined
  const network: Neighbours & { close(): void } =
    wire.outside === undefined
      ? new WireNetwork({ ...wire, byTeam: ['execution'], cells, tls, tracer })
      : await openOutside(wire.outside, wire.maxMessageBytes)
  order.add('connections', () => network.close())
  await cells?.start()
  order.add('cells', () => cells?.stop())
  const part = program.create(config, {
    neighbours: network,
    ...(wire.grpc !== undefined && { address: ownAddress(wire.grpc) }),
    logger,
    metrics,
    tracer,
    readiness: () => health.checks(),
  })
  health.watch(part.name, () => part.ready())
  const operations = await serveOperations(wire.health, health, metrics)
  order.add('operations', () => operations.close())
  let served: ServedPort | undefined
  // After the part: its callers may still bring results while it stops.
  order.add('gRPC', (graceMs) => served?.close(Math.max(graceMs, 500)))
  order.add(part.name, (graceMs) => part.stop(graceMs))
  stopping.addEventListener('abort', () => served?.drain(), { once: true })
  await part.start()
  if (wire.grpc !== undefined && part.serves.length > 0 && !stopping.aborted)
    served = await serve(part.serves, { ...wire.grpc, tls, logger, tracer, openCalls: openCalls(metrics) })
  logger.info('ready')
  return order
}

async function openOutside(
  outside: NonNullable<WireConfig['outside']>,
  maxMessageBytes: number,
): Promise<OutsideNetwork> {
  const { OutsideNetwork: Network } = await import('@automation/rpc/outside-network')
  return new Network({ ...outside, maxMessageBytes })
}

/** Failure `internal_tls` where the folder is not as it must be. */
function openTls(Folder: typeof TlsFolder, folder: string, logger: Logger): TlsFolder {
  try {
    return new Folder(folder, { logger })
  } catch (error) {
    const text = `INTERNAL_TLS_DIR must be a folder with ca.crt, tls.crt and tls.key in PEM: ${(error as Error).message}`
    throw new Failure('failed_precondition', 'internal_tls', text, { cause: error })
  }
}
