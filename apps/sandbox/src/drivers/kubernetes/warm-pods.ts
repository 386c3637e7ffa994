import { Periodic, type Check, type Logger } from '@automation/service'
import type { Image } from '../../catalogue.ts'
import type { PodSeen } from '../../cluster/pod-seen.ts'
import type { Pods } from '../../cluster/pods.ts'
import { held, markOf, sandboxPod, specLabel, specOf, warmLabel, type SandboxPodSettings } from './sandbox-pod.ts'
import type { StartKeys } from './start-key.ts'

interface WarmPodsOptions {
  pods: Pods
  /** Those that some are to be kept ready of. */
  images: Image[]
  settings: SandboxPodSettings
  startKeys: StartKeys
  logger: Logger
}

const lookEveryMs = 2000
const firstPauseMs = 5000
const maxPauseMs = 300_000

interface Trouble {
  words: string
  pauseMs: number
  until: number
}

/** Pods that belong to nobody yet, of each image as many as the catalogue says; each is taken once, whoever asks. */
export class WarmPods {
  readonly #options: WarmPodsOptions
  readonly #looks: Periodic
  /** Of images whose pods fail, by spec. */
  readonly #troubles = new Map<string, Trouble>()
  /** Taken by this process, by uid: what is known of them may be older. */
  readonly #taken = new Set<string>()

  constructor(options: WarmPodsOptions) {
    this.#options = options
    this.#looks = new Periodic('keeping sandboxes ready', lookEveryMs, options.logger, () => this.#look())
  }

  start(): void {
    this.#looks.start()
    this.#looks.soon()
  }

  async stop(): Promise<void> {
    await this.#looks.stop()
  }

  /** One that is ready, with these labels from now on; undefined where there is none. */
  async take(image: Image, labels: Record<string, string>): Promise<PodSeen | undefined> {
    const { pods, settings } = this.#options
    const spec = specOf(image, settings)
    for (const pod of pods.all()) {
      if (!isWarm(pod) || pod.labels[specLabel] !== spec || !pod.ready || this.#taken.has(pod.uid) || !this.#opens(pod))
        continue
      this.#taken.add(pod.uid)
      const taken = await this.#patched(pod, { ...labels, [warmLabel]: null })
      this.#looks.soon()
      if (taken !== undefined) return taken
    }
    return undefined
  }

  /** Not one that was started with a key that ENCRYPTION_KEY has no more. */
  #opens(pod: PodSeen): boolean {
    return this.#options.startKeys.keyOf(markOf(pod.annotations)) !== undefined
  }

  async #patched({ name, uid, resourceVersion }: PodSeen, labels: Record<string, string | null>) {
    let taken: PodSeen | undefined
    try {
      return (taken = await this.#options.pods.patch(name, { resourceVersion, labels, annotations: held }))
    } finally {
      // Where it is not known whether it was taken, the watch will tell.
      if (taken === undefined) this.#taken.delete(uid)
    }
  }

  /** Of each image those that are ready, and as many as there shall be. */
  spares(): { image: string; ready: number; wanted: number }[] {
    const { pods, images, settings } = this.#options
    const ready = pods.all().filter((pod) => isWarm(pod) && pod.ready && !this.#taken.has(pod.uid))
    return images.map((image) => {
      const spec = specOf(image, settings)
      return {
        image: image.id,
        ready: ready.filter(({ labels }) => labels[specLabel] === spec).length,
        wanted: image.warm,
      }
    })
  }

  /** One for each image whose pods fail; the service is ready all the same. */
  checks(): Check[] {
    return [...this.#troubles.values()].map(({ words }) => ({
      name: 'sandboxes kept ready',
      ok: true,
      detail: words,
    }))
  }

  async #look(): Promise<void> {
    const { pods, images, settings } = this.#options
    if (!pods.isCurrent) return
    const all = pods.all()
    for (const uid of this.#taken) if (!all.some((pod) => pod.uid === uid)) this.#taken.delete(uid)
    const wanted = new Map(images.map((image) => [specOf(image, settings), image]))
    const warm = all.filter((pod) => isWarm(pod) && !this.#taken.has(pod.uid))
    for (const pod of warm) this.#judge(pod, wanted)
    const names = new Set(all.map(({ name }) => name))
    const plan = warmPlan({ wanted, warm, opens: (pod) => this.#opens(pod), names })
    for (const { name, uid, resourceVersion } of plan.remove)
      await pods.remove(name, { uid, resourceVersion, graceS: 0 })
    for (const { name, spec, image } of plan.make) if (!this.#isPaused(spec)) await this.#make(name, image)
  }

  async #make(name: string, image: Image): Promise<void> {
    const { pods, settings, startKeys } = this.#options
    const mark = startKeys.newMark()
    await pods.create(sandboxPod({ name, labels: { [warmLabel]: 'true' }, image, mark }, settings))
  }

  /** One that comes ends its image's trouble; one that can't come begins or prolongs it. */
  #judge(pod: PodSeen, wanted: Map<string, Image>): void {
    const spec = pod.labels[specLabel] ?? ''
    if (pod.ready) this.#troubles.delete(spec)
    if (pod.end === undefined || !wanted.has(spec) || this.#isPaused(spec)) return
    const pauseMs = Math.min((this.#troubles.get(spec)?.pauseMs ?? firstPauseMs / 2) * 2, maxPauseMs)
    const words = `of ${wanted.get(spec)!.id}: ${pod.end}`
    this.#troubles.set(spec, { words, pauseMs, until: performance.now() + pauseMs })
    this.#options.logger.warn({ pod: pod.name, pauseMs }, `a sandbox could not be made ready ahead, ${words}`)
  }

  #isPaused(spec: string): boolean {
    return (this.#troubles.get(spec)?.until ?? 0) > performance.now()
  }
}

function isWarm(pod: PodSeen): boolean {
  return pod.labels[warmLabel] === 'true' && !pod.deleting
}

/** What is wanted, and what is there. */
interface WarmSight {
  /** Images by the spec of their pods. */
  wanted: Map<string, Image>
  /** Pods that belong to nobody. */
  warm: PodSeen[]
  /** Whether its daemon's key can still be made. */
  opens(pod: PodSeen): boolean
  /** Of all pods: those that were taken keep theirs. */
  names: Set<string>
}

interface WarmPlan {
  make: { name: string; spec: string; image: Image }[]
  remove: PodSeen[]
}

/**
 * Which pods to make and which to remove, so that of each image as many are kept ready as it says. Names are the lowest
 * numbers that are free, and the highest go first: replicas that see the same do the same, and so nothing twice.
 */
function warmPlan({ wanted, warm, opens, names }: WarmSight): WarmPlan {
  const isGood = (pod: PodSeen) => pod.end === undefined && opens(pod) && wanted.has(pod.labels[specLabel] ?? '')
  const plan: WarmPlan = { make: [], remove: warm.filter((pod) => !isGood(pod)) }
  for (const [spec, image] of wanted) {
    const good = warm
      .filter((pod) => isGood(pod) && pod.labels[specLabel] === spec)
      .toSorted((one, two) => numberOf(one) - numberOf(two))
    plan.remove.push(...good.slice(image.warm))
    let missing = image.warm - good.length
    for (let number = 0; missing > 0; number++) {
      const name = `warm-${spec}-${number}`
      if (names.has(name)) continue
      plan.make.push({ name, spec, image })
      missing -= 1
    }
  }
  return plan
}

function numberOf({ name }: PodSeen): number {
  return Number(name.split('-').at(-1))
}
