import { once } from 'node:events'
import { rmSync, renameSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ownPairs, runnerKeyOf } from '@automation/rpc/key-ring'
import {
  Environment,
  runProgram,
  StopOrder,
  type Logger,
  type ProgramContext,
  type Running,
  type CalledService,
  type Check,
  type ServicePorts,
} from '@automation/service'
import { Failure } from '@automation/errors'
import { openWireTarget } from '@automation/admin/wire-target'
import { bootstrap } from '../bootstrap.ts'
import { environmentToCome, gives, withDataDir, type EnvironmentValues } from '../environment.ts'
import { takeDataDir } from '../data-dir.ts'
import { systemDatabase } from '../database.ts'
import { readConfigs } from '../configs.ts'
import { welcome } from '../banner.ts'
import { buildConsole } from '../console/console-build.ts'
import { planServices, type ServiceName, type ServicePlan } from './plan.ts'
import { readServicesSettings, type ServicesSettings } from './settings.ts'
import { supervise, type Supervised } from './supervised.ts'

const readyWithinMs = 60_000
// Services of a supervisor that was killed end by themselves.
const freeWithinMs = 6000
// A service's own margin over its grace is 4.5 s.
const stopMarginMs = 5000

/** Runs each service as a process of its own until it is told to stop. */
export function runServices(values: EnvironmentValues): Promise<void> {
  const toCome = environmentToCome(values)
  return runProgram({
    name: 'services',
    values: toCome.values,
    shown: toCome.shown,
    readConfig: (env) => {
      // Each service reads its own settings again; here all their faults are shown at once, before anything starts.
      readConfigs(env)
      return readServicesSettings(env)
    },
    start: async (settings, context) => {
      const services = new Services(settings, context)
      try {
        await services.start(values)
        return services
      } catch (error) {
        await services.stop(0)
        throw error
      }
    },
  })
}

/** The processes of one system, and how they are started and stopped. */
class Services implements Running {
  readonly #settings: ServicesSettings
  readonly #logger: Logger
  readonly #stopping: AbortSignal
  readonly #order: StopOrder
  readonly #running: { plan: ServicePlan; service: Supervised }[] = []

  constructor(settings: ServicesSettings, { logger, stopping }: ProgramContext) {
    this.#settings = settings
    this.#logger = logger
    this.#stopping = stopping
    this.#order = new StopOrder(logger)
  }

  async start(given: EnvironmentValues): Promise<void> {
    const settings = this.#settings
    const dataDir = await takeDataDir(settings.dataDir, 'services')
    this.#order.add('data folder', () => dataDir.release())
    await healthPortsFree(settings.ports, freeWithinMs, this.#stopping)
    if (this.#stopping.aborted) return
    this.#order.add('services.json', () => rmSync(join(dataDir.path, 'services.json'), { force: true }))
    const values = withDataDir(given, dataDir.path)
    const plans = planServices(settings, values, await this.#secrets(given, values))
    const launch = (plan: ServicePlan) => this.#launch(plan, dataDir.path)
    const { catalog, execution, storage, sandbox, scheduler } = settings.ports
    const addresses = Object.fromEntries(
      Object.entries({ catalog, execution, storage, sandbox, scheduler }).map(([name, port]) => [
        name,
        `127.0.0.1:${port}`,
      ]),
    ) as Record<CalledService, string>
    const target = openWireTarget(addresses, values)
    try {
      const { bootstrapTeam: team, bootstrapApiToken: apiToken } = settings
      const [first] = await Promise.all([
        launch(plans.catalog).then(() => bootstrap(target, { dataDir: dataDir.path, team, apiToken })),
        launch(plans.execution),
        launch(plans.storage),
        launch(plans.runner),
        launch(plans.sandbox),
        launch(plans.scheduler),
      ])
      // Nobody sees the system before its first team is there.
      await launch(plans.gateway)
      if (this.#stopping.aborted) return
      dataDir.tell({ address: settings.publicUrl, consoleUrl: settings.consoleUrl, addresses })
      const { healthUrl } = plans.gateway
      const checks = await checksAt(plans.runner.healthUrl)
      const { publicUrl: address, consoleUrl } = settings
      if (consoleUrl !== undefined) this.#buildConsole()
      await welcome(target, { ...first, address, consoleUrl, healthUrl, checks })
    } finally {
      await target.close()
    }
  }

  #buildConsole(): void {
    const build = buildConsole(this.#logger)
    this.#order.add('console build', () => build.stop())
  }

  stop(graceMs: number): Promise<void> {
    return this.#order.stop(graceMs)
  }

  abandon(): void {
    for (const { service } of this.#running) service.kill()
  }

  async #secrets(given: EnvironmentValues, values: EnvironmentValues) {
    const databaseUrl = await systemDatabase({
      settings: this.#settings,
      given: gives(given, 'DATABASE_URL'),
      logger: this.#logger,
      order: this.#order,
    })
    const env = new Environment(values)
    const internalKey = env.secret('INTERNAL_KEY', '')
    const encryptionKey = env.secret('ENCRYPTION_KEY', '')
    const runnerKey = env.secret('RUNNER_KEY', runnerKeyOf(internalKey))
    return { databaseUrl, internalKey, encryptionKey, runnerKey, gatewayKeys: ownPairs(internalKey, 'gateway') }
  }

  /** Starts a service; resolves when it is ready. */
  #launch(plan: ServicePlan, dataDir: string): Promise<void> {
    if (this.#stopping.aborted) return Promise.resolve()
    const service = supervise(plan, {
      logger: this.#logger,
      changed: () => queueMicrotask(() => writeServicesFile(dataDir, this.#running)),
    })
    this.#running.push({ plan, service })
    this.#order.add(plan.name, (graceMs) => this.#stop(plan.name, graceMs + stopMarginMs))
    return untilReady(plan, service, readyWithinMs, this.#stopping)
  }

  /** With the gateway goes the runner: while one waits for its answers, the other lets run what they are about. */
  async #stop(name: ServiceName, withinMs: number): Promise<void> {
    const names: ServiceName[] = name === 'gateway' ? ['gateway', 'runner'] : [name]
    const services = this.#running.filter(({ plan }) => names.includes(plan.name))
    await Promise.all(services.map(({ service }) => service.stop(withinMs)))
  }
}

/** Writes DATA_DIR/services.json: who runs, for people and for tests that end one of them. */
function writeServicesFile(dataDir: string, running: { plan: ServicePlan; service: Supervised }[]): void {
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

/**
 * Waits until a service says on /readyz that it is ready. Failure `service_not_started` when its process ends before, or
 * when `withinMs` are over; its own log says why. Stops waiting, without a word, when `signal` is aborted.
 */
async function untilReady(
  plan: ServicePlan,
  service: Supervised,
  withinMs: number,
  signal: AbortSignal,
): Promise<void> {
  let lastAnswer = 'nobody listens'
  for (const until = Date.now() + withinMs; ;) {
    if (signal.aborted) return
    const answer = await readyz(plan.healthUrl)
    if (answer === 'ready') return
    lastAnswer = answer
    if (service.starts() > 1 || service.pid() === undefined)
      throw notStarted(`The service ${plan.name} ended while it started; its log above says why.`)
    if (Date.now() > until)
      throw notStarted(`The service ${plan.name} is not ready after ${withinMs} ms: ${lastAnswer}`)
    await pause(50)
  }
}

/**
 * Failure `port_taken` where another program has the health port of a service after `withinMs`: its answers would count
 * as those of the service.
 */
async function healthPortsFree(ports: ServicePorts, withinMs: number, signal: AbortSignal): Promise<void> {
  const until = Date.now() + withinMs
  for (const [name, port] of Object.entries(ports).filter(([each]) => each.endsWith('Health')))
    while (!signal.aborted && (await isTaken(port))) {
      if (Date.now() > until) throw taken(name, port)
      await pause(100)
    }
}

async function isTaken(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy())
}

function taken(name: string, port: number): Failure {
  const text = `Port ${port} (${name} of SERVICE_PORTS) is taken by another program. Stop that one, or set it to a free port.`
  return new Failure('failed_precondition', 'port_taken', text)
}

async function readyz(healthUrl: string): Promise<string> {
  try {
    const response = await fetch(`${healthUrl}/readyz`, { signal: AbortSignal.timeout(2000) })
    const body = await response.text()
    return response.ok ? 'ready' : body
  } catch (error) {
    const { cause } = error as Error
    return cause instanceof Error ? cause.message : String(error)
  }
}

/** What a service that is ready tells of its checks. */
async function checksAt(healthUrl: string): Promise<Check[]> {
  const response = await fetch(`${healthUrl}/readyz`, { signal: AbortSignal.timeout(2000) })
  return ((await response.json()) as { checks: Check[] }).checks
}

function notStarted(text: string): Failure {
  return new Failure('failed_precondition', 'service_not_started', text)
}
