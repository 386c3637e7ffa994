import { format } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { Failure } from '@automation/errors'
import type { Tracer } from '@automation/tracing'
import type { Registry } from 'prom-client'
import type { Logger } from 'pino'
import { ConfigurationError, Environment } from './environment.ts'
import { Health } from './health.ts'
import { createLogger, logLevels } from './logger.ts'
import { createMetrics } from './metrics.ts'
import { StartProgress } from './start-progress.ts'
import { readOtlpHeaders } from './otlp-headers.ts'
import type { TracerOptions } from './otlp-tracer.ts'

/** What a program is given beside its configuration. */
export interface ProgramContext {
  logger: Logger
  metrics: Registry
  health: Health
  /** Where OTEL_EXPORTER_OTLP_ENDPOINT is set. */
  tracer?: Tracer
  /** Aborted at the first request to stop, also while it still starts. */
  stopping: AbortSignal
}

/** What runs, as `start` gives it back. */
export interface Running {
  /** Ends within `graceMs` what may finish in that time, then all the rest, in the reverse order of the start. */
  stop(graceMs: number): Promise<void>
  /** For the second request to stop: what can be done at once, before the process exits. */
  abandon?(): void
}

export interface Program<Config> {
  name: string
  /** Reads the configuration; faults are noted in `env`. */
  readConfig(env: Environment): Config
  /** Starts everything; resolves when it is up. When it fails the process ends, and what it started with it. */
  start(config: Config, context: ProgramContext): Promise<Running>
  /** The environment that is read; `process.env`. */
  values?: Record<string, string | undefined>
  /** What a terminal shows while it starts, in place of log lines of level info, where LOG_LEVEL is not set. */
  progress?: string
  /** What `--print-config` shows in place of settings that the start makes itself. */
  shown?: Record<string, string>
}

// What a timer takes: a runner waits as long as a run may take.
const longestGraceMs = 2 ** 31 - 1

// Beyond the grace: what a stop takes by itself, such as the last checkpoint of a database.
const stopMarginMs = 4500

// How much the heap may grow beyond what lives, in percent, before V8 marks all of it again. Buffers of contents count, and a
// small heap has so little room by default that marking never ends while contents pass through: more than half of all work.
const heapGrowthPercent = 300

/**
 * Runs a program until it is told to stop, and ends the process: 0 after an orderly stop, 1 after a failure, 2 when the
 * configuration has faults (all of them are printed). `--print-config` prints every setting with secrets masked, and ends.
 * The first SIGTERM, SIGINT or SIGHUP turns readiness off and stops within SHUTDOWN_GRACE_MS; a second one, a second or
 * more later, ends it at once. What nobody handled (a rejection, an exception) is logged and ends it.
 */
export async function runProgram<Config>(program: Program<Config>): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`)
  const env = new Environment(program.values ?? process.env)
  const settings = {
    level: env.choice('LOG_LEVEL', logLevels, 'info'),
    tracesTo: env.url('OTEL_EXPORTER_OTLP_ENDPOINT'),
    tracesWith: readOtlpHeaders(env),
    graceMs: readShutdownGraceMs(env),
  }
  const config = configured(program, env)
  const isQuiet = process.stderr.isTTY && !(program.values ?? process.env)['LOG_LEVEL']
  const progress = isQuiet && program.progress !== undefined ? new StartProgress(program.progress) : undefined
  const logger = createLogger({ service: program.name, level: settings.level, destination: progress })
  surviveLostOutput()
  logWarnings(logger)
  const unhandled = (error: unknown, text: string) => fatal(logger, error, tooFewFiles(error)?.message ?? text)
  process.on('uncaughtException', (error) => unhandled(error, 'nobody handled this'))
  process.on('unhandledRejection', (reason) => unhandled(reason, 'nobody handled this rejection'))

  const health = new Health()
  const stopping = new AbortController()
  let running: Running | undefined
  const tracer =
    settings.tracesTo === undefined
      ? undefined
      : await openTracer({
          endpoint: settings.tracesTo,
          headers: settings.tracesWith,
          service: program.name,
          logger,
        })
  const context = { logger, metrics: createMetrics(), health, tracer, stopping: stopping.signal }
  const starting = Promise.withResolvers<Running>()
  const stop = async (signal: string) => {
    progress?.end()
    logger.info({ signal, graceMs: settings.graceMs }, 'stopping')
    health.stopping()
    stopping.abort()
    // Should the event loop be kept from this by what hangs, the second request still ends it.
    const latestMs = Math.min(settings.graceMs + stopMarginMs, longestGraceMs)
    setTimeout(() => fatal(logger, 'it takes too long', 'not stopped in time'), latestMs).unref()
    await Promise.race([starting.promise.catch(() => undefined), patience()])
    await running?.stop(settings.graceMs)
    await tracer?.close()
    logger.info('stopped')
    process.exit(0)
  }
  onStopRequests(
    (signal) => void stop(signal).catch((error: unknown) => fatal(logger, error, 'stopping failed')),
    (signal) => {
      logger.warn({ signal }, 'stopping at once')
      running?.abandon?.()
      process.exit(1)
    },
  )
  program.start(config, context).then(starting.resolve, starting.reject)
  try {
    running = await starting.promise
    progress?.end()
    health.started()
  } catch (error) {
    progress?.end()
    if (stopping.signal.aborted) return
    const failure = portTaken(error, env) ?? addressAbsent(error, env) ?? tooFewFiles(error) ?? error
    if (!(failure instanceof Failure)) fatal(logger, error, 'could not start')
    console.error(`${program.name}: ${failure.message}`)
    logger.debug({ err: error }, 'could not start')
    process.exit(1)
  }
}

/** Reads SHUTDOWN_GRACE_MS; a fault is noted in `env`. */
export function readShutdownGraceMs(env: Environment): number {
  return env.integer('SHUTDOWN_GRACE_MS', { default: 10_000, max: longestGraceMs })
}

/** How long a start that is told to stop may take to come to its end. */
function patience(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 3000).unref())
}

/** For a port that is taken, by another program or by another listener of this one: the settings that it comes from. */
function portTaken(error: unknown, env: Environment): Failure | undefined {
  const { code, port } = error as NodeJS.ErrnoException & { port?: number }
  if (code !== 'EADDRINUSE' || port === undefined) return undefined
  const isIt = (value: string) => value.split(',').some((part) => part.replace(/^\w+=/, '') === `${port}`)
  const isListener = (name: string) => /PORTS?$/.test(name) && name !== 'RUNNER_CLOSED_PORTS'
  const found = env.settings().flatMap(({ name, value }) => (isListener(name) && isIt(value) ? [name] : []))
  // HEALTH_PORT has its default from SERVICE_PORTS.
  const names = found.length > 1 ? found.filter((name) => name !== 'SERVICE_PORTS') : found
  const [setting = 'the setting of this port'] = names
  const text =
    names.length > 1
      ? `Port ${port} is that of ${names.join(' and of ')}. Set one of them to another port.`
      : `Port ${port} (${setting}) is taken by another program. Stop that one, or set ${setting} to a free port.`
  return new Failure('failed_precondition', 'port_taken', text, { cause: error })
}

/** For an address that is not of this machine, or a name that has none: the setting that it comes from. */
function addressAbsent(error: unknown, env: Environment): Failure | undefined {
  const { code, address, hostname } = error as NodeJS.ErrnoException & { address?: string; hostname?: string }
  if (code !== 'EADDRNOTAVAIL' && code !== 'ENOTFOUND') return undefined
  const setting = env.settings().find(({ name, value }) => /(^|_)HOST$/.test(name) && value === (address ?? hostname))
  if (setting === undefined) return undefined
  const text = `This machine has no address ${setting.value} (${setting.name}). Set ${setting.name} to one that it has.`
  return new Failure('failed_precondition', 'address_absent', text, { cause: error })
}

/** For a limit on open files that is too low. */
function tooFewFiles(error: unknown): Failure | undefined {
  if ((error as NodeJS.ErrnoException | undefined)?.code !== 'EMFILE') return undefined
  const text =
    'This process may open too few files. Raise its limit to 65536: ulimit -n in a shell, LimitNOFILE of systemd, --ulimit nofile of Docker.'
  return new Failure('failed_precondition', 'too_few_files', text, { cause: error })
}

function configured<Config>(program: Program<Config>, env: Environment): Config {
  try {
    const config = program.readConfig(env)
    if (process.argv.includes('--print-config')) printSettings(env, program.shown)
    env.check()
    if (process.argv.includes('--print-config')) process.exit(0)
    return config
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    console.error(`${program.name}: ${error.message}`)
    process.exit(2)
  }
}

function printSettings(env: Environment, shown: Record<string, string> = {}): void {
  for (const { name, value } of env.settings()) console.log(`${name}=${shown[name] ?? value}`)
}

function fatal(logger: Logger, error: unknown, text: string): never {
  logger.fatal({ err: error }, text)
  process.exit(1)
}

/** Who read the output may be gone, or its disk full; that is no reason to end. */
function surviveLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
}

/** What Node and libraries would print is a line of the log. */
function logWarnings(logger: Logger): void {
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    // kafkajs sets timers whose time has passed.
    if (warning.name !== 'TimeoutNegativeWarning') logger.warn({ err: warning }, `Node warns: ${warning.message}`)
  })
  console.warn = (...words) => logger.warn(format(...words))
}

/** A Ctrl-C in a terminal arrives twice, from the group and from npm; what follows sooner than this is that echo. */
const echoMs = 1000

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * Tells of requests to stop: `first` once, `second` at the first one that comes a second or more after that.
 * Returns how to stop listening.
 */
function onStopRequests(first: (signal: string) => void, second: (signal: string) => void): () => void {
  let firstMs: number | undefined
  const listen = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (firstMs === undefined) {
      firstMs = now
      first(signal)
    } else if (now - firstMs >= echoMs) second(signal)
  }
  for (const signal of signals) process.on(signal, listen)
  return () => {
    for (const signal of signals) process.off(signal, listen)
  }
}

/** Only here is OpenTelemetry loaded. */
export async function openTracer(options: TracerOptions): Promise<Tracer> {
  const { otlpTracer } = await import('./otlp-tracer.ts')
  return otlpTracer(options)
}
