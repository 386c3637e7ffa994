import { type GetDemandResponse, RunnerDemandService } from '@automation/contract/runner/v1/demand'
import { asService, type Client, ownContext } from '@automation/rpc'
import { podKeyOf, signingId } from '@automation/rpc/key-ring'
import { type Check, type Logger, type PartContext, Periodic, type Registry } from '@automation/service'
import { Counter, Gauge } from 'prom-client'
import { v7 } from 'uuid'
import { type ClusterApi, openCluster } from '../cluster/api.ts'
import type { PodSeen } from '../cluster/pod-seen.ts'
import { Pods } from '../cluster/pods.ts'
import { podLabels } from '../cluster/restricted.ts'
import { Leadership, type Store } from '../store/store.ts'
import type { RunnerPodsConfig } from './config.ts'
import { KnownPods } from './known-pods.ts'
import { longerPause, noPause, pauseText } from './pause.ts'
import { plan, type Removal, type RunnerPod } from './plan.ts'
import { keySecretOf, runnerPod, specHash, specLabel } from './runner-pod.ts'
import { startingRunners } from './starting.ts'

interface RunnerPoolOptions {
  config: RunnerPodsConfig
  /** Pods of a team that may have others than all. */
  mostOf?: ((team: string) => number | undefined) | undefined
  /** The runner pods of this installation. */
  pods: Pods
  demand: Client<typeof RunnerDemandService>
  leadership: Leadership
  metrics: PoolMetrics
  logger: Logger
}

const answerWithinMs = 5000
const teamLabel = 'process-automation/team'
// Of a pod that has nothing to finish.
const atOnceS = 0
const unanswered = 'execution can not be asked which runner pods are needed'
const troubleForUsers = 'runner pods do not start at the moment'
const apiAway = 'the Kubernetes API does not answer'
const awayForUsers = 'the cluster that has them does not answer at the moment'

/** Makes and removes runner pods as execution has need of them. Of several replicas of the service, one does. */
export class RunnerPool {
  readonly #options: RunnerPoolOptions
  readonly #known: KnownPods
  readonly #hash: string
  readonly #rounds: Periodic
  /** Uids of pods whose Secret is there. */
  readonly #keyed = new Set<string>()
  #pause = noPause
  #state = 'starting'
  /** As the last round has found them. */
  #starting: ReturnType<typeof startingRunners> = []

  constructor(options: RunnerPoolOptions) {
    this.#options = options
    const { config, logger } = options
    this.#hash = specHash(config.pod, signingId(config.runnerKey))
    this.#known = new KnownPods(this.#hash)
    this.#rounds = new Periodic('runner pods', config.everyMs, logger, () => this.#round())
  }

  /** Does not wait for the cluster. */
  start(): void {
    void this.#options.pods.start().finally(() => this.#rounds.start())
  }

  /** Pods stay, and go on. */
  async stop(): Promise<void> {
    await this.#rounds.stop()
    await this.#options.pods.stop()
    await this.#options.leadership.release()
  }

  /** Removes the pods of a team of which nothing runs any more; gives how many there were. Failure cluster_away. */
  async removeOf(team: string): Promise<number> {
    const { pods, logger } = this.#options
    const own = await pods.list({ [teamLabel]: team })
    await Promise.all(own.map(({ name, uid }) => pods.remove(name, { uid, graceS: atOnceS })))
    for (const { name } of own) logger.info({ pod: name, team }, 'a runner pod goes with its team')
    return own.length
  }

  /** Never a reason to be asked nothing else: sandboxes do without runners. */
  check(): Check {
    const away = this.#options.pods.isCurrent ? '' : `; ${apiAway}`
    return { name: 'runner pods', ok: true, detail: `${this.#state}${away}` }
  }

  async #round(): Promise<void> {
    const { pods, leadership, metrics, config, mostOf } = this.#options
    if (!(await leadership.isMine())) {
      this.#state = 'another replica makes them'
      return metrics.forget()
    }
    const answer = await this.#ask()
    if (!pods.isCurrent) this.#known.unasked()
    if (answer === undefined || !pods.isCurrent) return
    const waiting = answer.waiting.map(({ team }) => team)
    const there = this.#known.together(pods.all(), answer.sessions, performance.now())
    this.#starting = startingRunners(there)
    if (there.some(({ session }) => session !== undefined && session.team === '')) this.#pause = noPause
    const isPaused = Date.now() < this.#pause.untilMs
    const { make, remove } = plan({ pods: there, waiting, isPaused }, { ...config.limits, mostOf })
    metrics.seen(there, waiting.length)
    this.#tell(there, waiting.length)
    await Promise.all([
      ...this.#freeNames(there, make).map((name) => this.#make(name)),
      ...remove.map((removal) => this.#remove(removal)),
      ...there.map((pod) => this.#label(pod)),
      ...this.#unkeyed(there).map((pod) => this.#keyLater(pod)),
    ])
  }

  async #ask(): Promise<GetDemandResponse | undefined> {
    const { demand, pods, config, logger } = this.#options
    const runners = pods.all().filter(({ end }) => end === undefined).length
    const trouble = this.#pause.failures > 0 ? troubleForUsers : ''
    const shown = pods.isCurrent ? trouble : awayForUsers
    const whyNone = pods.isCurrent ? pauseText(this.#pause, Date.now()) : apiAway
    const capacity = {
      ...{ runners, mostRunners: config.limits.most, trouble: shown },
      ...{ whyNone, starting: this.#starting },
    }
    const context = ownContext(asService('sandbox'), answerWithinMs)
    try {
      return await demand.getDemand({ pool: config.pod.pool, capacity }, context)
    } catch (error) {
      this.#known.unasked()
      // Told once, not with each round.
      if (this.#state !== unanswered) logger.warn({ err: error }, unanswered)
      this.#state = unanswered
      return undefined
    }
  }

  /** The lowest that no pod has: whoever else makes pods at the same time makes the same ones. */
  #freeNames(there: RunnerPod[], count: number): string[] {
    const taken = new Set(there.map(({ name }) => name))
    const { instance, limits } = this.#options.config
    const names = Array.from({ length: limits.most }, (_, at) => `${instance}-runner-${at}`)
    return names.filter((name) => !taken.has(name)).slice(0, count)
  }

  async #make(name: string): Promise<void> {
    const { pods, config, metrics, logger } = this.#options
    try {
      const pod = await pods.create(runnerPod({ name, keyId: v7() }, config.pod, { [specLabel]: this.#hash }))
      await this.#giveKey(pod).catch((error: unknown) => this.#takeBack(pod, error))
      metrics.made()
      logger.info({ pod: name }, 'a runner pod is made')
    } catch (error) {
      logger.warn({ err: error, pod: name }, 'a runner pod could not be made')
      this.#failed(error instanceof Error ? error.message.slice(0, 500) : String(error))
    }
  }

  /** Makes the Secret of a pod, whoever has made that. */
  async #giveKey(pod: PodSeen): Promise<void> {
    const { pods, config } = this.#options
    const secret = keySecretOf(pod, (id) => podKeyOf(config.runnerKey, { id, pool: config.pod.pool }))
    if (secret !== undefined) await pods.createSecret(secret)
    this.#keyed.add(pod.uid)
  }

  /** Without its key it would wait for ever. */
  async #takeBack({ name, uid }: PodSeen, why: unknown): Promise<never> {
    await this.#options.pods.remove(name, { uid, graceS: atOnceS }).catch((error: unknown) => {
      this.#options.logger.warn({ err: error, pod: name }, 'a runner pod without a key could not be removed')
    })
    throw why
  }

  /** Pods that may wait for their Secret: who made them was cut off. */
  #unkeyed(there: RunnerPod[]): PodSeen[] {
    for (const uid of this.#keyed) if (!there.some((pod) => pod.uid === uid)) this.#keyed.delete(uid)
    const waiting = there.filter(({ uid, session, deleting, end }) => {
      return session === undefined && !deleting && end === undefined && !this.#keyed.has(uid)
    })
    return waiting.flatMap(({ name }) => this.#options.pods.get(name) ?? [])
  }

  async #keyLater(pod: PodSeen): Promise<void> {
    try {
      await this.#giveKey(pod)
    } catch (error) {
      this.#options.logger.debug({ err: error, pod: pod.name }, 'the key of a runner pod is not there yet')
    }
  }

  async #remove({ pod, why, atOnce }: Removal): Promise<void> {
    const { pods, logger } = this.#options
    const neverStarted = !this.#known.wasHeard(pod) && !/^exit 0\b/.test(why)
    if (atOnce && neverStarted) this.#failed(why)
    logger[atOnce && neverStarted ? 'warn' : 'info'](
      { pod: pod.name, team: pod.session?.team, why },
      'a runner pod goes',
    )
    try {
      await pods.remove(pod.name, { uid: pod.uid, ...(atOnce && { graceS: atOnceS }) })
    } catch (error) {
      logger.warn({ err: error, pod: pod.name }, 'a runner pod could not be removed, trying again')
    }
  }

  #failed(why: string): void {
    this.#options.metrics.failed()
    this.#pause = longerPause(this.#pause, why, Date.now())
  }

  /** Shows whose a pod is to whoever looks at pods. */
  async #label({ name, uid, deleting, session }: RunnerPod): Promise<void> {
    const { pods, logger } = this.#options
    const seen = pods.get(name)
    if (deleting || !session?.team || seen?.uid !== uid || seen.labels[teamLabel] === session.team) return
    try {
      await pods.patch(name, { resourceVersion: seen.resourceVersion, labels: { [teamLabel]: session.team } })
    } catch (error) {
      logger.debug({ err: error, pod: name }, 'a runner pod could not be labelled')
    }
  }

  #tell(there: RunnerPod[], waiting: number): void {
    const { most } = this.#options.config.limits
    const bound = there.filter(({ session }) => session?.team).length
    const waits = waiting === 0 ? '' : `; ${waiting} teams have runs that wait`
    const { failures, why } = this.#pause
    const trouble = failures === 0 ? '' : `; they do not start (${failures} times in a row): ${why}`
    this.#state = `${there.length} of ${most}, ${bound} serve a team${waits}${trouble}`
  }
}

/** The runner pods of an installation, on the cluster that this process finds. Starts nothing. */
export async function openRunnerPods(
  config: RunnerPodsConfig,
  store: Store,
  { neighbours, logger, metrics }: PartContext,
  { api, mostOf }: { api?: ClusterApi; mostOf?: (team: string) => number | undefined } = {},
): Promise<RunnerPool> {
  const cluster = api ?? (await openCluster())
  const { namespace = cluster.namespace ?? 'default', instance, owner } = config
  const labels = podLabels('runner-pod', instance)
  return new RunnerPool({
    config,
    mostOf,
    pods: new Pods({ api: cluster, namespace, owner, labels, logger }),
    demand: neighbours.client(RunnerDemandService),
    leadership: new Leadership(store, `runner pods of ${namespace}/${instance}`),
    metrics: poolMetrics(metrics),
    logger,
  })
}

interface PoolMetrics {
  seen(pods: RunnerPod[], waiting: number): void
  /** Another replica counts them. */
  forget(): void
  made(): void
  failed(): void
}

const states = ['starting', 'spare', 'bound', 'ending'] as const

/** The metrics of runner pods, in the registry of the process. */
function poolMetrics(registry: Registry): PoolMetrics {
  const registers = [registry]
  const help = 'Runner pods by what they are for'
  const pods = new Gauge({ name: 'runner_pods', help, labelNames: ['state'], registers })
  const waits = 'Teams with runs that wait for a slot'
  const waitingTeams = new Gauge({ name: 'runner_pods_waiting_teams', help: waits, registers })
  const made = new Counter({ name: 'runner_pods_made_total', help: 'Runner pods that were made', registers })
  const whatFailed = 'Runner pods that could not be made, or ended before execution knew them'
  const failed = new Counter({ name: 'runner_pods_failed_total', help: whatFailed, registers })
  return {
    seen(there, waiting) {
      for (const state of states) pods.set({ state }, there.filter((pod) => stateOf(pod) === state).length)
      waitingTeams.set(waiting)
    },
    forget() {
      pods.reset()
      waitingTeams.reset()
    },
    made: () => made.inc(),
    failed: () => failed.inc(),
  }
}

function stateOf({ deleting, end, session }: RunnerPod): (typeof states)[number] {
  if (deleting || end !== undefined) return 'ending'
  if (session === undefined) return 'starting'
  return session.team === '' ? 'spare' : 'bound'
}
