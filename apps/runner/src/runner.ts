import { randomUUIDv7 } from 'node:crypto'
import about from '../package.json' with { type: 'json' }
import {
  type HelloSchema,
  type Result,
  type Run,
  RunnerService,
  type Welcome,
} from '@automation/contract/runner/v1/runner'
import type { Isolation } from '@automation/jail'
import type { Neighbours, Principal } from '@automation/rpc'
import { failPoint, type Logger } from '@automation/service'
import { runnerCutOff } from '@automation/contract/installs'
import { Language } from '@automation/contract/common/v1/language'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { LRUCache } from 'lru-cache'
import type { Used } from './children/run-meter.ts'
import { Idleness } from './session/idleness.ts'
import { RunningRuns, TeamBinding } from './runs/running.ts'
import { SlotGrants } from './runs/slot-grants.ts'
import type { RunnerConfig } from './config.ts'
import type { Metrics } from './metrics.ts'
import { ActiveRun, usageOf, type RunEnvironment } from './runs/active-run.ts'
import { reason, type Reason } from './runs/explanation.ts'
import { KeptResults, type OutgoingMessage, ReplicaLink } from './session/link.ts'
import { ProcessCalls } from './runs/process-calls.ts'
import { refusal, stopped, whyNot, withoutSpec } from './runs/refusals.ts'
import type { RunStarter, Version } from './runs/run-starter.ts'
import { Lease } from './session/lease.ts'

export interface RunnerOptions {
  config: RunnerConfig
  neighbours: Neighbours
  starter: RunStarter
  metrics: Metrics
  /** Why Python processes are not run; undefined when they are. */
  withoutPython: string | undefined
  logger: Logger
  /** It serves one team only: the first that it gets a run of. */
  isolation: Pick<Isolation, 'oneTeam' | 'remedy' | 'network'>
  /**
   * It is a team's and had nothing to do for long, or was drained and all its runs are over: it is to be stopped. Absent
   * where it is a part of a larger program.
   */
  retire?(): void
  /** Nobody has a use for these sets of packages any more. */
  removeSets(keys: readonly string[]): void
}

const { version } = about
const tickMs = 250
/** Longer than a replica with a slot in hand waits for the database; they come back at once where nothing is started. */
const returnWithinMs = 8000

/** The session with the replicas of execution: grants slots, takes runs, brings back results. */
export class Runner {
  readonly #options: RunnerOptions
  readonly #runs: RunningRuns
  /** To every replica that is known, and to those that are gone but for their streams. */
  readonly #links: ReplicaLink[] = []
  readonly #principal: Principal
  readonly #linkOf = new WeakMap<ActiveRun, ReplicaLink>()
  readonly #results: KeptResults<ReplicaLink>
  /** Runs that were killed before they were assigned here: the kill may come by another replica. */
  readonly #killedAhead = new LRUCache<string, true>({ max: 10_000 })
  readonly #binding: TeamBinding
  readonly #idleness: Idleness
  readonly #grants: SlotGrants
  readonly #lease: Lease
  readonly #environment: RunEnvironment
  #sessionId = randomUUIDv7()
  #isStopping = false
  /** The operator wants it to end: it grants no slots any more, and stops once its runs are over. */
  #isDraining = false
  /** All slots are back, or their time is over: nothing more is taken. */
  #isClosed = false
  #tick: NodeJS.Timeout | undefined
  readonly #changes = new Changes()

  constructor(options: RunnerOptions) {
    this.#options = options
    const { config, neighbours, starter, logger } = options
    const principal: Principal = (this.#principal = {
      role: 'runner',
      team: '',
      subject: config.name,
      name: config.name,
    })
    this.#runs = new RunningRuns(config.slots, () => this.#grants.soon())
    this.#results = new KeptResults((result, link) => this.#sendTo(link, { case: 'result', value: result }))
    const calls = new ProcessCalls(neighbours, logger, config.parametersMaxBytes, {
      waits: (run) => this.#runs.waits(run),
      goesOn: (run) => this.#runs.goesOn(run),
      replicaOf: (run) => this.#replicaOf(run),
      isAmongOthers: (run) => this.#runs.isAmongOthers(run),
    })
    this.#environment = {
      ...config,
      network: { closedPorts: config.isolation.closedPorts, isOwn: options.isolation.network !== 'host' },
      sendLogs: (run, chunk) =>
        this.#sendTo(this.#linkOf.get(run), {
          case: 'logs',
          value: { executionId: run.id, fence: run.run.fence, chunk },
        }),
      called: (run, payload) => calls.called(run, payload),
      isWaiting: (run) => this.#runs.isWaiting(run),
      withdraw: (run) => starter.withdraw(run),
      over: (run, result, used) => this.#over(run, result, used),
    }
    this.#binding = new TeamBinding(options.isolation.oneTeam)
    const [busyWith, team] = [() => this.#runs.size + this.#results.size, () => this.#binding.team]
    this.#idleness = new Idleness({ busyWith, team, exitMs: config.idleExitMs, retire: options.retire })
    this.#grants = new SlotGrants(this.#links, this.#runs, config.slots, this.#binding)
    this.#lease = new Lease({
      client: neighbours.client(RunnerService, 'control'),
      principal,
      session: () => ({ id: this.#sessionId, executionIds: [...this.#runs.ids, ...this.#results.ids] }),
      state: () => ({ ...this.#idleness.state, replicas: this.#connectedTo }),
      ended: (ids) => ids.forEach((id) => this.#end(id)),
      drain: () => this.#drain(),
      lost: (sessionId) => this.#lost(sessionId),
      cutOff: () => this.#cutOff(),
      logger,
    })
  }

  start(): void {
    this.#tick = setInterval(() => {
      this.#results.sendDue(performance.now())
      this.#meet()
      this.#grants.balance()
      this.#retireOnceDrained()
    }, tickMs)
    this.#idleness.start()
    this.#meet()
  }

  /**
   * Takes its slots back, and nothing new but what was on its way; what runs may end within `runMs`, then it ends as
   * "service stopped". Resolves when all is told.
   */
  async stop(runMs: number, storeMs: number): Promise<void> {
    this.#isStopping = true
    const end = performance.now() + runMs
    this.#takeSlotsBack()
    await this.#changes.until(() => this.#grants.isAllBack, Math.min(returnWithinMs, Math.max(runMs, storeMs)))
    this.#isClosed = true
    const isIdle = () => this.#runs.size === 0
    await this.#changes.until(isIdle, Math.max(0, end - performance.now()))
    for (const run of this.#runs) run.fail(stopped)
    await this.#changes.until(isIdle, Infinity)
    if (this.connected > 0) await this.#changes.until(() => this.#results.size === 0, storeMs)
    clearInterval(this.#tick)
    this.#idleness.stop()
    this.#lease.stop()
    await Promise.all(this.#links.map((link) => link.stop(storeMs)))
  }

  get connected(): number {
    return this.#connectedTo.length
  }

  get #connectedTo(): string[] {
    return this.#links.filter(({ isConnected }) => isConnected).map(({ address }) => address)
  }

  get replicas(): number {
    return this.#links.length
  }

  get running(): number {
    return this.#runs.size
  }

  get keptResults(): number {
    return this.#results.size
  }

  #takeSlotsBack(): void {
    this.#grants.stop()
    for (const link of this.#links) link.send({ case: 'draining', value: {} })
  }

  #drain(): void {
    if (this.#isDraining || this.#isStopping || this.#options.retire === undefined) return
    this.#isDraining = true
    this.#options.logger.info({ runs: this.#runs.size }, 'the runner drains: it ends once its runs are over')
    this.#takeSlotsBack()
  }

  /** What is on its way still comes, as no slot is left that a run could have been given. */
  #retireOnceDrained(): void {
    if (!this.#isDraining || this.#isStopping || !this.#grants.isAllBack) return
    if (this.#runs.size > 0 || this.#results.size > 0) return
    this.#isDraining = false
    this.#options.logger.info('the runner is drained: all its runs are over, and it ends')
    this.#options.retire?.()
  }

  /** Replicas come and go: each has a link, until its stream has ended. */
  #meet(): void {
    if (this.#isStopping) return
    const addresses = this.#options.neighbours.replicas(RunnerService)
    const over = this.#links.findIndex(({ isOver }) => isOver)
    if (over >= 0) this.#links.splice(over, 1)
    for (const link of this.#links) link.leave(!addresses.includes(link.address))
    for (const address of addresses) {
      if (this.#links.some((link) => link.address === address)) continue
      const link = this.#linkTo(address)
      this.#links.push(link)
      link.start()
    }
  }

  /** The address of the replica that has assigned it; undefined while that one is away. */
  #replicaOf(run: ActiveRun): string | undefined {
    const link = this.#linkOf.get(run)
    return link?.isConnected === true ? link.address : undefined
  }

  #linkTo(address: string): ReplicaLink {
    const { config, logger, isolation, withoutPython, neighbours } = this.#options
    return new ReplicaLink({
      address,
      client: neighbours.at(RunnerService, address),
      principal: this.#principal,
      hello: () => ({
        ...helloOf(config, { sessionId: this.#sessionId, hasPython: withoutPython === undefined, isolation }),
        canDrain: this.#options.retire !== undefined,
        retires: config.idleExitMs > 0,
      }),
      versionOf: (spec) => this.#options.starter.versionOf(spec, config),
      welcomed: (welcome) => this.#welcomed(welcome),
      run: (link, run, version) => this.#take(link, run, version),
      kill: (id) => this.#end(id) || this.#killedAhead.set(id, true),
      stored: (id) => {
        this.#results.drop(id)
        this.#changes.happened()
      },
      returned: () => this.#returned(),
      removeSets: (keys) => this.#options.removeSets(keys),
      slotsWanted: (link) => this.#grants.want(link),
      down: (link, wasOpen, failure) => this.#down(link, wasOpen, failure?.code),
      logger,
    })
  }

  #welcomed({ leaseMs, pool }: Welcome): void {
    this.#options.logger.info({ sessionId: this.#sessionId, leaseMs, pool }, 'a replica knows this runner')
    this.#lease.begin(leaseMs)
    this.#results.sendDue(performance.now())
    this.#grants.soon()
    // A new stream does not know of it.
    if (this.#isDraining) this.#takeSlotsBack()
  }

  #take(link: ReplicaLink, run: Run, version: Version | undefined): void {
    // An assignment is never repeated; were it, user code would still start only once.
    if (this.#runs.get(run.executionId) !== undefined || this.#results.has(run.executionId)) return
    if (this.#killedAhead.delete(run.executionId)) return this.#grants.soon()
    if (version === undefined) return this.#refuse(link, run, withoutSpec)
    const why = whyNot(version, this.#isClosed, this.#options.withoutPython, this.#binding)
    if (why !== undefined) return this.#refuse(link, run, why)
    const active = new ActiveRun(run, version, this.#environment)
    this.#runs.add(active)
    this.#idleness.busy()
    this.#linkOf.set(active, link)
    link.running += 1
    this.#options.starter.run(active)
    this.#changes.happened()
    // The first one decides whose the runner is: the rest of its slots may go out.
    if (this.#runs.size === 1) this.#grants.soon()
  }

  #refuse(link: ReplicaLink, run: Run, why: Reason): void {
    this.#results.add(refusal(run, why), link)
    this.#grants.soon()
  }

  #over(run: ActiveRun, result: Result | undefined, used: Used | undefined): void {
    const link = this.#linkOf.get(run)!
    link.running -= 1
    link.freed += 1
    this.#runs.remove(run)
    this.#options.metrics.ended(run, result)
    this.#options.logger.debug({ executionId: run.id, end: result?.end.case }, 'a run is over')
    failPoint('result-before-send')
    if (result !== undefined) this.#results.add(result, link, () => run.repeatLogs())
    else if (used !== undefined) this.#tellUsage(run, link, used)
    this.#changes.happened()
  }

  #tellUsage({ id, run }: ActiveRun, link: ReplicaLink, used: Used): void {
    this.#sendTo(link, { case: 'killedUsage', value: { executionId: id, fence: run.fence, usage: usageOf(used) } })
  }

  /** Nobody asks for this run any more; false when it is not here. */
  #end(executionId: string): boolean {
    const run = this.#runs.get(executionId)
    run?.discard('terminate')
    return this.#results.drop(executionId) || run !== undefined
  }

  #returned(): void {
    if (this.#isStopping && this.#grants.isAllBack) this.#isClosed = true
    this.#changes.happened()
    this.#grants.soon()
  }

  #down(link: ReplicaLink, wasOpen: boolean, code: string | undefined): void {
    // While its own is away, what a run sends goes over another one.
    const isBroken = (own: ReplicaLink | undefined) => wasOpen && (own === link || own?.isConnected === false)
    this.#results.hasten(isBroken)
    for (const run of this.#runs) if (isBroken(this.#linkOf.get(run))) run.repeatLogs()
    if (code === 'session_lost') this.#lost(this.#sessionId)
    this.#changes.happened()
    this.#grants.soon()
  }

  /** The session has ended without us: whatever ran in it is recorded as lost. A new one begins. */
  #lost(sessionId: string): void {
    if (sessionId !== this.#sessionId || this.#isStopping) return
    this.#options.logger.warn({ sessionId, runs: this.#runs.size }, 'the session was lost; its runs are ended')
    this.#sessionId = randomUUIDv7()
    this.#results.clear()
    for (const run of this.#runs) run.discard('kill')
    for (const link of this.#links) link.reconnect()
  }

  #cutOff(): void {
    this.#options.logger.error({ runs: this.#runs.size }, 'no replica was reached for almost a lease; runs are ended')
    for (const run of this.#runs) run.fail(cutOff, 'kill')
  }

  /** To this replica, or to any other when it is away. */
  #sendTo(preferred: ReplicaLink | undefined, message: OutgoingMessage): boolean {
    if (preferred?.send(message)) return true
    return this.#links.some((link) => link.send(message))
  }
}

/** What a runner says of itself at the beginning of each stream. */
function helloOf(
  { name, pool, labels, slots, teamMaxRunners }: RunnerConfig,
  {
    sessionId,
    hasPython,
    isolation,
  }: { sessionId: string; hasPython: boolean; isolation: Pick<Isolation, 'oneTeam' | 'remedy'> },
): MessageInitShape<typeof HelloSchema> {
  const languages = hasPython ? [Language.JAVASCRIPT, Language.PYTHON] : [Language.JAVASCRIPT]
  const { oneTeam } = isolation
  const oneTeamRemedy = oneTeam ? isolation.remedy : undefined
  const about = { runnerName: name, pool, labels, slots, languages, version }
  return { sessionId, ...about, oneTeam, teamMaxRunners, oneTeamRemedy }
}

/** Lets one wait for a condition that is looked at again whenever something has changed. */
class Changes {
  #look: (() => void) | undefined

  happened(): void {
    this.#look?.()
  }

  /** Resolves when it is so, or after `ms`. One at a time. */
  async until(isSo: () => boolean, ms: number): Promise<void> {
    if (isSo()) return
    await new Promise<void>((resolve) => {
      const timer = ms === Infinity ? undefined : setTimeout(resolve, ms)
      this.#look = () => {
        if (!isSo()) return
        clearTimeout(timer)
        resolve()
      }
    })
    this.#look = undefined
  }
}

const cutOff = reason(runnerCutOff, 'The runner was cut off from the service, and ended the run')
