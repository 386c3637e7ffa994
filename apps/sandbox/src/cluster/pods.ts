import type { Logger } from '@automation/service'
import type { V1OwnerReference, V1Pod, V1Secret } from '@kubernetes/client-node'
import { answered, statusOf, type ClusterApi } from './api.ts'
import { podSeen, type PodSeen } from './pod-seen.ts'
import { watchPods } from './pod-watch.ts'

interface PodsOptions {
  api: ClusterApi
  namespace: string
  /** That all of them carry. */
  labels: Record<string, string>
  /** The name of the ConfigMap that they belong to and go with. */
  owner?: string
  logger: Logger
}

/** Called with each change; `isGone`: there is no such pod any more. */
type PodListener = (pod: PodSeen, isGone: boolean) => void

/** What a removal asks for: the very pod of this uid, as it was; seconds for its end. */
export interface Removal {
  uid?: string
  resourceVersion?: string
  graceS?: number
}

/**
 * Pods of one kind in one namespace, as a watch last knew them. What asks the API rejects with Failure cluster_away while
 * that is away.
 */
export class Pods {
  readonly #options: PodsOptions
  readonly #selector: string
  #known = new Map<string, PodSeen>()
  readonly #listeners = new Set<PodListener>()
  readonly #stopping = new AbortController()
  readonly #owner: Owner | undefined
  #watching: Promise<void> = Promise.resolve()
  #isCurrent = false

  constructor(options: PodsOptions) {
    this.#options = options
    const { api, namespace, owner } = options
    this.#owner = owner === undefined ? undefined : new Owner(api, namespace, owner)
    this.#selector = Object.entries(options.labels)
      .map(([name, value]) => `${name}=${value}`)
      .join(',')
  }

  /** Whether what is known is as the API has it. */
  get isCurrent(): boolean {
    return this.#isCurrent
  }

  /** Resolves when all pods are known; while the API is away it goes on trying, until `signal` or `stop`. */
  async start(signal?: AbortSignal): Promise<void> {
    const both = signal === undefined ? this.#stopping.signal : AbortSignal.any([signal, this.#stopping.signal])
    const first = Promise.withResolvers<void>()
    const { api, namespace, logger } = this.#options
    const watching = watchPods(
      {
        api,
        namespace,
        logger,
        selector: this.#selector,
        listed: (pods) => this.#listed(pods),
        changed: (pod) => this.#changed(podSeen(pod)),
        gone: (pod) => this.#gone(podSeen(pod)),
        current: (is) => {
          this.#isCurrent = is
          if (is) first.resolve()
        },
      },
      both,
    )
    this.#watching = watching.finally(() => first.resolve())
    await first.promise
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#watching
    this.#isCurrent = false
  }

  all(): PodSeen[] {
    return [...this.#known.values()]
  }

  get(name: string): PodSeen | undefined {
    return this.#known.get(name)
  }

  /** From the API, now. */
  async list(labels: Record<string, string> = {}): Promise<PodSeen[]> {
    const { api, namespace } = this.#options
    const more = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
    const labelSelector = [this.#selector, ...more].join(',')
    const { items } = await answered(api.core.listNamespacedPod({ namespace, labelSelector }))
    return items.map(podSeen)
  }

  /** The pod; the one that is there when there is one of its name. */
  async create(pod: V1Pod): Promise<PodSeen> {
    const { api, namespace, labels } = this.#options
    const name = pod.metadata?.name ?? ''
    const ownerReferences = this.#owner && [await this.#owner.reference()]
    const own = { namespace, labels: { ...pod.metadata?.labels, ...labels }, ownerReferences }
    const body = Object.assign({}, pod, { metadata: Object.assign({}, pod.metadata, own) })
    try {
      return podSeen(await answered(api.core.createNamespacedPod({ namespace, body })))
    } catch (error) {
      if (statusOf(error) !== 409) throw error
      return podSeen(await answered(api.core.readNamespacedPod({ namespace, name })))
    }
  }

  /** A Secret for one of the pods, with their labels; one of its name that is there stays as it is. */
  async createSecret(secret: V1Secret): Promise<void> {
    const { api, namespace, labels } = this.#options
    const body = Object.assign({}, secret, { metadata: Object.assign({}, secret.metadata, { namespace, labels }) })
    try {
      await answered(api.core.createNamespacedSecret({ namespace, body }))
    } catch (error) {
      if (statusOf(error) !== 409) throw error
    }
  }

  /** Resolves when its end has begun; not there, or another by now, is no error. */
  async remove(name: string, { uid, resourceVersion, graceS }: Removal = {}): Promise<void> {
    const { api, namespace } = this.#options
    const preconditions = {
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    }
    const body = { preconditions, ...(graceS !== undefined && { gracePeriodSeconds: graceS }) }
    try {
      await answered(api.core.deleteNamespacedPod({ name, namespace, body }))
    } catch (error) {
      const status = statusOf(error)
      if (status !== 404 && status !== 409) throw error
    }
  }

  /**
   * Changes labels and annotations (null: away) of the pod as it was at a resource version; undefined when somebody was
   * faster, or it is gone.
   */
  async patch(
    name: string,
    change: {
      resourceVersion: string
      labels?: Record<string, string | null>
      annotations?: Record<string, string | null>
    },
  ): Promise<PodSeen | undefined> {
    const { api, namespace } = this.#options
    try {
      return podSeen(await answered(api.mergePod(name, namespace, { metadata: change })))
    } catch (error) {
      const status = statusOf(error)
      if (status === 404 || status === 409) return undefined
      throw error
    }
  }

  /** Calls the listener with each change from now on; the answer ends that. */
  onChange(listener: PodListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #listed(pods: V1Pod[]): void {
    const before = this.all()
    const now = pods.map(podSeen)
    this.#known = new Map(now.map((pod) => [pod.name, pod]))
    // All that there are is known before a listener hears of the first change.
    for (const pod of before) if (this.get(pod.name)?.uid !== pod.uid) this.#tell(pod, true)
    const versions = new Map(before.map(({ name, resourceVersion }) => [name, resourceVersion]))
    for (const pod of now) if (versions.get(pod.name) !== pod.resourceVersion) this.#tell(pod, false)
  }

  #gone(pod: PodSeen): void {
    this.#known.delete(pod.name)
    this.#tell(pod, true)
  }

  #changed(pod: PodSeen): void {
    this.#known.set(pod.name, pod)
    this.#tell(pod, false)
  }

  #tell(pod: PodSeen, isGone: boolean): void {
    for (const listener of this.#listeners)
      try {
        listener(pod, isGone)
      } catch (error) {
        this.#options.logger.error({ err: error, pod: pod.name }, 'a change of a pod could not be handled')
      }
  }
}

/** The ConfigMap that pods belong to: when it goes, the cluster ends them. Asked for once it is needed, and then known. */
class Owner {
  readonly #api: ClusterApi
  readonly #namespace: string
  readonly #name: string
  #found: V1OwnerReference | undefined

  constructor(api: ClusterApi, namespace: string, name: string) {
    this.#api = api
    this.#namespace = namespace
    this.#name = name
  }

  /** Rejects when there is none, or the API is away. */
  async reference(): Promise<V1OwnerReference> {
    if (this.#found !== undefined) return this.#found
    const asked = { namespace: this.#namespace, name: this.#name }
    const { metadata } = await answered(this.#api.core.readNamespacedConfigMap(asked))
    const uid = metadata?.uid ?? ''
    // As their controller, `kubectl drain` takes them for pods that somebody makes again, as this service does.
    return (this.#found = { apiVersion: 'v1', kind: 'ConfigMap', name: this.#name, uid, controller: true })
  }
}
