import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { addressOf } from '@automation/rpc/address'
import type { PodSeen } from '../../cluster/pod-seen.ts'
import type { Pods } from '../../cluster/pods.ts'
import { daemonPort } from './sandbox-pod.ts'

/** The end of a pod that is no longer there and told none of its own, in words. */
export const podDeleted = 'its pod was deleted'

const askEveryMs = 10
const connectMs = 1000

/** Waits until `look` gives something for a pod, as it changes; `undefined` stands for a pod that is gone. */
export async function awaitedPod<T>(
  pods: Pods,
  { name, uid }: Pick<PodSeen, 'name' | 'uid'>,
  look: (pod: PodSeen | undefined) => T | undefined,
  signal: AbortSignal,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const see = (pod: PodSeen | undefined) => {
    try {
      const seen = look(pod)
      if (seen !== undefined) resolve(seen)
    } catch (error) {
      reject(error instanceof Error ? error : new Error(String(error)))
    }
  }
  const stop = pods.onChange((pod, isGone) => {
    if (pod.name === name && pod.uid === uid) see(isGone ? undefined : pod)
  })
  const abort = () => reject(signal.reason as Error)
  signal.addEventListener('abort', abort)
  try {
    if (signal.aborted) abort()
    const known = pods.get(name)
    if (known?.uid === uid) see(known)
    return await promise
  } finally {
    signal.removeEventListener('abort', abort)
    stop()
  }
}

/** Where the daemon of a pod listens. */
export function daemonAddress(ip: string): string {
  return addressOf(ip, daemonPort)
}

/** Resolves when somebody listens there. */
export async function listening(ip: string, signal: AbortSignal): Promise<void> {
  while (!(await isListening(ip))) await pause(askEveryMs, undefined, { signal })
}

function isListening(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: daemonPort, timeout: connectMs })
    const end = (is: boolean) => {
      socket.destroy()
      resolve(is)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })
}

const graceS = 1
// A node that does not answer never says that a pod is gone.
const patienceMs = 10_000
const forcedMs = 3000

/** Removes a pod and resolves when it is gone. */
export async function removePod(pods: Pods, pod: PodSeen): Promise<void> {
  const { name, uid } = pod
  await pods.remove(name, { uid, graceS })
  if (await isGone(pods, pod, patienceMs)) return
  await pods.remove(name, { uid, graceS: 0 })
  if (!(await isGone(pods, pod, forcedMs))) throw new Error(`The pod ${name} does not go away`)
}

async function isGone(pods: Pods, pod: PodSeen, withinMs: number): Promise<boolean> {
  // The watch may have told before anybody waited, or not yet know the pod at all: then the API says.
  const gone = awaitedPod(pods, pod, (it) => (it === undefined ? true : undefined), AbortSignal.timeout(withinMs))
  const seen = gone.catch(() => false)
  if (pods.get(pod.name)?.uid !== pod.uid && !(await isThere(pods, pod))) return true
  return (await seen) || !(await isThere(pods, pod))
}

async function isThere(pods: Pods, { uid }: PodSeen): Promise<boolean> {
  return (await pods.list()).some((pod) => pod.uid === uid)
}
