import type { Failure } from '@automation/errors'
import { failPoint, type Check, type Logger } from '@automation/service'
import type { Catalogue } from '../../catalogue.ts'
import { clusterAway, isClusterAway, openCluster, statusOf, type ClusterApi } from '../../cluster/api.ts'
import type { PodSeen } from '../../cluster/pod-seen.ts'
import { Pods } from '../../cluster/pods.ts'
import { podLabels } from '../../cluster/restricted.ts'
import type { KubernetesDriverConfig } from '../../config.ts'
import { retryWhileAway } from '../../retry-while-away.ts'
import type { Daemons } from '../daemons.ts'
import { SandboxFault, type Driver, type DriverEvents, type SandboxOrder } from '../driver.ts'
import { Adoption } from './adoption.ts'
import { podDeleted, removePod } from './awaited-pod.ts'
import { sandboxLabel, sandboxPod, teamLabel } from './sandbox-pod.ts'
import { StartKeys } from './start-key.ts'
import { WarmPods } from './warm-pods.ts'

export interface KubernetesDriverOptions {
  config: KubernetesDriverConfig
  catalogue: Catalogue
  /** Of ENCRYPTION_KEY: start keys of daemons are made from them. */
  encryptionKeys: string[]
  /** After so long a sandbox that does not answer is given up. */
  startTimeoutMs: number
  daemons: Daemons
  logger: Logger
  /** How the cluster is reached; by KUBECONFIG or the service account. */
  open?: () => Promise<ClusterApi>
}

interface Making {
  made: Promise<string>
  unwanted: AbortController
}

/** Sandboxes in a cluster: a pod for each, found by its label; any number of replicas of the service. */
export class KubernetesDriver implements Driver {
  readonly name = 'kubernetes'
  readonly outlivesService = true
  readonly lostReason = endedByItself(podDeleted)
  readonly #options: KubernetesDriverOptions
  readonly #startKeys: StartKeys
  readonly #making = new Map<string, Making>()
  /** Pods that this process removes, by uid: their end is no news. */
  readonly #removing = new Map<string, Promise<void>>()
  #events: DriverEvents = { ended: () => undefined }
  #wasCurrent = false
  #isStopping = false
  #cluster: { pods: Pods; warm: WarmPods; adoption: Adoption } | undefined

  constructor(options: KubernetesDriverOptions) {
    this.#options = options
    this.#startKeys = new StartKeys(options.encryptionKeys)
  }

  /** Rejects when no cluster is named; one that is away is waited for behind. */
  async start(events: DriverEvents): Promise<void> {
    const { config, catalogue, daemons, logger, open = openCluster } = this.#options
    this.#events = events
    const api = await open()
    const namespace = config.namespace ?? api.namespace ?? 'default'
    const { instance, owner } = config
    const pods = new Pods({ api, namespace, owner, labels: podLabels('sandbox-pod', instance), logger })
    const adoption = new Adoption({ pods, daemons, startKeys: this.#startKeys })
    const images = catalogue.images.filter((image) => image.warm > 0)
    const warm = new WarmPods({ pods, images, settings: config, startKeys: this.#startKeys, logger })
    this.#cluster = { pods, warm, adoption }
    pods.onChange((pod, isGone) => this.#changed(pod, isGone))
    void pods.start().then(() => warm.start())
  }

  refusal(): Failure | undefined {
    return this.#cluster?.pods.isCurrent === true ? undefined : clusterAway()
  }

  create(order: SandboxOrder): Promise<string> {
    const known = this.#making.get(order.id)
    if (known !== undefined) return known.made
    const unwanted = new AbortController()
    const made = this.#make(order, unwanted.signal).finally(() => this.#making.delete(order.id))
    this.#making.set(order.id, { made, unwanted })
    return made
  }

  async end(id: string): Promise<void> {
    const making = this.#making.get(id)
    making?.unwanted.abort()
    await this.#removeAll(id)
    // It removes what it had made meanwhile.
    await making?.made.catch(() => undefined)
  }

  async list(): Promise<string[]> {
    const pods = await this.#opened().pods.list()
    return [...new Set(pods.map(sandboxOfPod).filter((id) => id !== undefined))]
  }

  spares() {
    return this.#cluster?.warm.spares() ?? []
  }

  /** What exists goes on while the API is away, so only the first look at it is waited for. */
  async ready(): Promise<Check[]> {
    const isCurrent = this.#cluster?.pods.isCurrent === true
    this.#wasCurrent ||= isCurrent
    const detail = isCurrent ? undefined : 'the API of the cluster does not answer: there are no new sandboxes'
    return [
      { name: 'kubernetes', ok: this.#wasCurrent, ...(detail !== undefined && { detail }) },
      ...(this.#cluster?.warm.checks() ?? []),
    ]
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    for (const { unwanted } of this.#making.values()) unwanted.abort()
    await Promise.allSettled([...this.#making.values()].map(({ made }) => made))
    await this.#cluster?.warm.stop()
    await this.#cluster?.pods.stop()
  }

  async #make(order: SandboxOrder, unwanted: AbortSignal): Promise<string> {
    // Sooner than the service gives it up: then the reason is the cluster's.
    const late = AbortSignal.timeout(this.#options.startTimeoutMs * 0.9)
    const signal = AbortSignal.any([unwanted, late])
    try {
      return await this.#persistently(order, signal)
    } catch (error) {
      const fault = this.#faultOf(error, order.id, { unwanted, late })
      // It may still come, or is ended by another replica.
      if (this.#isStopping) throw fault
      await this.#removeAll(order.id).catch((cause: unknown) => {
        // Comparing rows with pods removes it later.
        this.#options.logger.warn({ err: cause, sandbox: order.id }, 'a failed sandbox could not be removed yet')
      })
      throw fault
    }
  }

  /** While the API is away it goes on trying; what it made unheard is found by its label. */
  async #persistently(order: SandboxOrder, signal: AbortSignal): Promise<string> {
    const { pods, adoption } = this.#opened()
    let isFirst = true
    const give = async () => {
      const known = isFirst ? pods.all() : await pods.list({ [sandboxLabel]: order.id })
      isFirst = false
      const there = known.find((pod) => sandboxOfPod(pod) === order.id)
      if (there !== undefined) return await adoption.adopt(there, order, signal)
      const address = (await this.#fromPool(order, signal)) ?? (await this.#fresh(order, signal))
      signal.throwIfAborted()
      return address
    }
    const delayed = (err: Error, againInMs: number) =>
      this.#options.logger.warn({ err, sandbox: order.id, againInMs }, 'a sandbox can not be asked for yet')
    return retryWhileAway(give, delayed, signal)
  }

  /** One that was kept ready; where it fails, it may be for its own reasons, and a new one is made. */
  async #fromPool(order: SandboxOrder, signal: AbortSignal): Promise<string | undefined> {
    const { warm, adoption } = this.#opened()
    const pod = await warm.take(order.image, labelsOf(order))
    if (pod === undefined) return undefined
    try {
      return await adoption.adopt(pod, order, signal)
    } catch (error) {
      if (signal.aborted) throw error
      this.#options.logger.warn({ err: error, pod: pod.name }, 'a sandbox that was kept ready failed, making a new one')
      await this.#remove(pod)
      return undefined
    }
  }

  async #fresh(order: SandboxOrder, signal: AbortSignal): Promise<string> {
    const { pods, adoption } = this.#opened()
    signal.throwIfAborted()
    const { id, image } = order
    const mark = this.#startKeys.newMark()
    const wanted = sandboxPod({ name: `sandbox-${id}`, labels: labelsOf(order), image, mark }, this.#options.config)
    const pod = await pods.create(wanted)
    failPoint('sandbox-pod-made')
    return adoption.adopt(pod, order, signal)
  }

  #faultOf(error: unknown, id: string, { unwanted, late }: { unwanted: AbortSignal; late: AbortSignal }): Error {
    if (unwanted.aborted) return new SandboxFault('It was ended before it had started', { cause: error })
    if (error instanceof SandboxFault) return error
    if (late.aborted) {
      const pod = this.#cluster?.pods.all().find((each) => sandboxOfPod(each) === id)
      const isAway = isClusterAway(error) || this.refusal() !== undefined
      const words = isAway ? 'the API of the cluster does not answer' : (pod?.trouble ?? 'its daemon does not answer')
      return new SandboxFault(`It did not start in time: ${words}`, { cause: error })
    }
    const status = statusOf(error)
    if (status === 403) return new SandboxFault('The cluster does not admit its pod', { cause: error })
    if (status === 422) return new SandboxFault('The cluster takes its pod for invalid', { cause: error })
    return error instanceof Error ? error : new Error(String(error))
  }

  #changed(pod: PodSeen, isGone: boolean): void {
    const id = sandboxOfPod(pod)
    // One that is being made is told by its maker.
    if (id === undefined || this.#making.has(id) || this.#removing.has(pod.uid)) return
    const end = pod.end ?? (isGone || pod.deleting ? podDeleted : undefined)
    if (end === undefined) return
    void this.#remove(pod)
      .catch((error: unknown) => {
        this.#options.logger.warn({ err: error, pod: pod.name }, 'a pod that has ended could not be removed yet')
      })
      .then(async () => {
        if (!(await this.#isElsewhere(id, pod))) this.#events.ended(id, endedByItself(end))
      })
  }

  /** Whether another pod is the sandbox's: one that was kept ready may fail for its own reasons, and a new one is made. */
  async #isElsewhere(id: string, { uid }: PodSeen): Promise<boolean> {
    const { pods } = this.#opened()
    // The watch may be behind.
    const there = await pods.list({ [sandboxLabel]: id }).catch(() => pods.all())
    return there.some((pod) => sandboxOfPod(pod) === id && pod.uid !== uid && pod.end === undefined && !pod.deleting)
  }

  async #removeAll(id: string): Promise<void> {
    const found = await this.#opened().pods.list({ [sandboxLabel]: id })
    await Promise.all(found.map((pod) => this.#remove(pod)))
  }

  #remove(pod: PodSeen): Promise<void> {
    let removing = this.#removing.get(pod.uid)
    if (removing === undefined) {
      removing = removePod(this.#opened().pods, pod).finally(() => this.#removing.delete(pod.uid))
      this.#removing.set(pod.uid, removing)
    }
    return removing
  }

  #opened() {
    if (this.#cluster === undefined) throw new Error('The driver has not started')
    return this.#cluster
  }
}

function sandboxOfPod(pod: PodSeen): string | undefined {
  return pod.labels[sandboxLabel]
}

function labelsOf({ id, team }: SandboxOrder): Record<string, string> {
  return { [sandboxLabel]: id, [teamLabel]: team }
}

function endedByItself(end: string): string {
  return `It ended by itself: ${end}`
}
