import type { RunnerSession } from '@automation/contract/runner/v1/demand'
import type { PodSeen } from '../cluster/pod-seen.ts'
import type { RunnerPod } from './plan.ts'
import { runnerNameOf, specLabel } from './runner-pod.ts'

interface Heard {
  /** When execution knew its runner last; of one that it never knew, when the pod was first seen. Monotonic, in ms. */
  atMs: number
  ever: boolean
}

/** Pods beside what execution says of the runners in them, and for how long it has said nothing. */
export class KnownPods {
  readonly #heard = new Map<string, Heard>()
  readonly #specHash: string
  /** Since when execution can be asked without a break. */
  #askedSinceMs: number | undefined

  constructor(specHash: string) {
    this.#specHash = specHash
  }

  /** Execution could not be asked: its silence says nothing. */
  unasked(): void {
    this.#askedSinceMs = undefined
  }

  /** Whether execution ever knew the runner of this pod. */
  wasHeard({ uid }: { uid: string }): boolean {
    return this.#heard.get(uid)?.ever ?? false
  }

  /** `nowMs` is monotonic. */
  together(pods: PodSeen[], sessions: RunnerSession[], nowMs: number): RunnerPod[] {
    const since = (this.#askedSinceMs ??= nowMs)
    const byName = new Map(sessions.map((session) => [session.runnerName, session]))
    const uids = new Set(pods.map(({ uid }) => uid))
    for (const uid of this.#heard.keys()) if (!uids.has(uid)) this.#heard.delete(uid)
    return pods.map((pod) => {
      const session = byName.get(runnerNameOf(pod))
      const heard = this.#heard.get(pod.uid)
      const now = session === undefined ? (heard ?? { atMs: nowMs, ever: false }) : { atMs: nowMs, ever: true }
      this.#heard.set(pod.uid, now)
      const { name, uid, createdAt, deleting, end, trouble } = pod
      return {
        ...{ name, uid, createdAt, deleting, end, trouble },
        outdated: pod.labels[specLabel] !== this.#specHash,
        silentMs: nowMs - Math.max(now.atMs, since),
        wasHeard: now.ever,
        session: session && stateOf(session),
      }
    })
  }
}

function stateOf({ team, slots, running, idleMs }: RunnerSession) {
  return { team, slots, running, idleMs: Number(idleMs) }
}
