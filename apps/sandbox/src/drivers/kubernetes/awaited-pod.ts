import { connect, isIPv6 } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { PodSeen } from '../../cluster/pod-seen.ts'
import type { Pods } from '../../cluster/pods.ts'
import { daemonPort } from './sandbox-pod.ts'

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
  return `${isIPv6(ip) ? `[${ip}]` : ip}:${daemonPort}`
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
