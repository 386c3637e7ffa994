import type { V1ContainerState, V1ContainerStatus, V1Pod } from '@kubernetes/client-node'

/** What is known of one pod. */
export interface PodSeen {
  name: string
  uid: string
  labels: Record<string, string>
  annotations: Record<string, string>
  resourceVersion: string
  /** Milliseconds since 1970. */
  createdAt: number
  ip?: string
  ready: boolean
  deleting: boolean
  /** It has ended or can never start: why, in words. */
  end?: string
  /** It does not start yet: why, in words. */
  trouble?: string
}

const maxWords = 500
// Nothing mends these but another image or another pod.
const hopeless = new Set([
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
])

/** A pod of the API, from a list or from a watch, in the terms of this service. */
export function podSeen(pod: V1Pod): PodSeen {
  const { metadata = {}, status = {} } = pod
  const end = endOf(pod)
  const trouble = end === undefined ? troubleOf(pod) : undefined
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    resourceVersion: metadata.resourceVersion ?? '',
    createdAt: new Date(metadata.creationTimestamp ?? 0).getTime(),
    ...(status.podIP !== undefined && { ip: status.podIP }),
    ready: conditionOf(pod, 'Ready')?.status === 'True',
    deleting: metadata.deletionTimestamp !== undefined,
    ...(end !== undefined && { end }),
    ...(trouble !== undefined && { trouble }),
  }
}

function endOf(pod: V1Pod): string | undefined {
  const { phase, reason, message } = pod.status ?? {}
  for (const { state, image } of statusesOf(pod)) {
    const words = hopelessWords(state, image)
    if (words !== undefined) return words
  }
  if (phase !== 'Failed' && phase !== 'Succeeded') return disruptionOf(pod)
  // The pod's own reason, such as Evicted, tells more than the signal that its containers got.
  if (reason !== undefined) return bounded(`${reason}: ${message ?? 'the cluster ended its pod'}`)
  const states = statusesOf(pod).map(({ state }) => state?.terminated)
  const ended = states.find((it) => it !== undefined && it.exitCode !== 0) ?? states.find((it) => it !== undefined)
  if (ended === undefined) return bounded(message ?? 'the cluster ended its pod')
  if (ended.reason === 'OOMKilled') return 'it took more memory than it may'
  const how = ended.signal ? `signal ${ended.signal}` : `exit ${ended.exitCode}`
  return bounded([disruptionOf(pod) ?? how, ended.message?.trim()].filter(Boolean).join('; '))
}

/** Why the cluster takes a pod away, such as a drained or lost node. */
function disruptionOf(pod: V1Pod): string | undefined {
  const disruption = conditionOf(pod, 'DisruptionTarget')
  if (disruption?.status !== 'True') return undefined
  return bounded(`the cluster took its pod away (${disruption.reason}): ${disruption.message ?? ''}`)
}

function hopelessWords(state: V1ContainerState | undefined, image: string): string | undefined {
  const { reason, message } = state?.waiting ?? {}
  if (reason === undefined || !hopeless.has(reason)) return undefined
  const words = /Image/.test(reason) ? `the image ${image} can't be had` : "its container can't be made"
  return bounded(`${words} (${reason}): ${message ?? ''}`)
}

function troubleOf(pod: V1Pod): string | undefined {
  if (conditionOf(pod, 'Ready')?.status === 'True') return undefined
  const scheduled = conditionOf(pod, 'PodScheduled')
  if (scheduled?.status === 'False')
    return bounded(`${scheduled.reason ?? 'Unscheduled'}: ${scheduled.message ?? 'no node takes it yet'}`)
  const waiting = statusesOf(pod).find(({ state }) => state?.waiting !== undefined)?.state?.waiting
  if (waiting !== undefined) return bounded([waiting.reason, waiting.message].filter(Boolean).join(': '))
  return pod.status?.podIP === undefined ? 'its node has not started it yet' : undefined
}

function statusesOf({ status }: V1Pod): V1ContainerStatus[] {
  return [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
}

function conditionOf({ status }: V1Pod, type: string) {
  return status?.conditions?.find((condition) => condition.type === type)
}

function bounded(words: string): string {
  return words.slice(0, maxWords)
}
