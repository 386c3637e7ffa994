import type { PodSeen } from '../../cluster/pod-seen.ts'
import type { Pods } from '../../cluster/pods.ts'
import { awaitedPod } from './awaited-pod.ts'

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
  const told = gone.catch(() => false)
  if (pods.get(pod.name)?.uid !== pod.uid && !(await isThere(pods, pod))) return true
  return (await told) || !(await isThere(pods, pod))
}

async function isThere(pods: Pods, { uid }: PodSeen): Promise<boolean> {
  return (await pods.list()).some((pod) => pod.uid === uid)
}
