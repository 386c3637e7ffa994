import { Failure } from '@automation/errors'
import type { PodSeen } from '../../cluster/pod-seen.ts'
import type { Pods } from '../../cluster/pods.ts'
import type { Daemons } from '../daemons.ts'
import { SandboxFault, type SandboxOrder } from '../driver.ts'
import { awaitedPod, daemonAddress, listening, podDeleted } from './awaited-pod.ts'
import { home, markOf } from './sandbox-pod.ts'
import type { StartKeys } from './start-key.ts'

interface AdoptionOptions {
  pods: Pods
  daemons: Daemons
  startKeys: StartKeys
}

/** Gives pods their sandboxes. */
export class Adoption {
  readonly #options: AdoptionOptions

  constructor(options: AdoptionOptions) {
    this.#options = options
  }

  /** Waits for a pod's daemon and gives it the order; its address. SandboxFault when the pod ends before. */
  async adopt(pod: PodSeen, order: SandboxOrder, signal: AbortSignal): Promise<string> {
    const given = new AbortController()
    const both = AbortSignal.any([signal, given.signal])
    const ended = awaitedPod(this.#options.pods, pod, endOf, both).then((words) => {
      throw new SandboxFault(`It could not be started: ${words}`)
    })
    try {
      return await Promise.race([ended, this.#give(pod, order, both)])
    } finally {
      given.abort()
    }
  }

  async #give(pod: PodSeen, order: SandboxOrder, signal: AbortSignal): Promise<string> {
    const { pods, daemons, startKeys } = this.#options
    const ip = pod.ip ?? (await awaitedPod(pods, pod, (it) => it?.ip, signal))
    await listening(ip, signal)
    const key = startKeys.keyOf(markOf(pod.annotations))
    if (key === undefined) throw new Error(`The pod ${pod.name} was started by a service with another ENCRYPTION_KEY`)
    const address = daemonAddress(ip)
    const daemon = { address, environment: environmentOf(order) }
    try {
      await daemons.adopt({ ...daemon, key }, order, signal)
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'sandbox_key') throw error
      // It has been given already: that it is this sandbox, its own key tells.
      await daemons.adopt({ ...daemon, key: order.daemonKey }, order, signal)
    }
    return address
  }
}

/** What commands of a sandbox's users find, beside what its image sets. */
function environmentOf({ id }: SandboxOrder): Record<string, string> {
  return { HOME: home, USER: 'sandbox', LOGNAME: 'sandbox', SANDBOX_ID: id }
}

function endOf(pod: PodSeen | undefined): string | undefined {
  if (pod === undefined || pod.deleting) return pod?.end ?? podDeleted
  return pod.end
}
