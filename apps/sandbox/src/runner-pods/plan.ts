/** A runner pod, and what execution knows of the runner in it. */
export interface RunnerPod {
  name: string
  uid: string
  /** Milliseconds since 1970. */
  createdAt: number
  /** It is on its way out; what it still runs, it finishes. */
  deleting: boolean
  /** It has ended, or can never start: why, in words. */
  end?: string
  /** It does not start yet: why, in words. */
  trouble?: string
  /** Made by other settings than those of now. */
  outdated: boolean
  /** How long execution has not known of it, in ms, while execution could be asked. */
  silentMs: number
  /** Execution has known its runner at some time. */
  wasHeard: boolean
  /** Undefined while execution does not know its runner. */
  session?: RunnerState
}

export interface RunnerState {
  /** Empty while it is nobody's. */
  team: string
  slots: number
  running: number
  idleMs: number
}

export interface PoolLimits {
  /** Pods that are kept for teams which have none. */
  spare: number
  most: number
  mostPerTeam: number
  /** Of teams that may have others than that. */
  mostOf?: ((team: string) => number | undefined) | undefined
  /** After how long unneeded pods that are nobody's go. */
  idleMs: number
  /** How long execution may not know of a pod before it is given up. */
  startTimeoutMs: number
}

interface Situation {
  pods: RunnerPod[]
  /** Teams with runs that wait for a slot, the one that has waited longest first. */
  waiting: string[]
  /** Nothing is made now: what was made before did not start. */
  isPaused: boolean
}

export interface Removal {
  pod: RunnerPod
  why: string
  /** It is of no use to anybody: it need not finish anything. */
  atOnce: boolean
}

export interface Plan {
  /** How many pods to make. */
  make: number
  remove: Removal[]
}

/** What is to be done so that each team that waits gets a pod, within the limits. Pure. */
export function plan({ pods, waiting, isPaused }: Situation, limits: PoolLimits): Plan {
  const given = pods.filter(({ deleting }) => !deleting)
  const over = given.flatMap((pod) => hopeless(pod, limits))
  const there = given.filter((pod) => !over.some((each) => each.pod === pod))
  const unbound = there.filter((pod) => (pod.session?.team ?? '') === '')
  const fresh = unbound.filter(({ outdated }) => !outdated)
  const wanted = wantedUnbound(there, waiting, limits)
  const gone = over.filter(({ atOnce }) => atOnce).length
  const free = Math.max(0, limits.most - (pods.length - gone))
  const make = isPaused ? 0 : Math.min(Math.max(0, wanted - fresh.length), free)
  const unneeded = [
    ...stale(unbound, fresh, limits),
    ...surplus(fresh, wanted, limits),
    ...overdue(there, waiting, limits),
  ]
  const lacking = unserved(there, waiting).length - fresh.length - make - comingFree(pods)
  const others = there.filter((pod) => !unneeded.some((each) => each.pod === pod))
  const evicted = isPaused || lacking <= 0 ? [] : evictions(others, waiting, lacking - unneeded.length)
  return { make, remove: [...over, ...unneeded, ...evicted] }
}

/** How many pods that are nobody's there should be: one for each team without, one for each that needs more, the spare. */
function wantedUnbound(pods: RunnerPod[], waiting: string[], { spare, mostPerTeam, mostOf }: PoolLimits): number {
  const alone = unserved(pods, waiting).length
  const more = waiting.filter((team) => {
    const own = podsOf(pods, team)
    return own.length > 0 && own.length < (mostOf?.(team) ?? mostPerTeam) && own.every(isFull)
  }).length
  // The last one that is nobody's is for a team that has none: execution gives it to no other.
  return more > 0 ? Math.max(alone + more + spare, 2) : alone + spare
}

function hopeless(pod: RunnerPod, { startTimeoutMs }: PoolLimits): Removal[] {
  // One that the cluster takes away may still finish what execution knows it to run.
  if (pod.end !== undefined) return [{ pod, why: pod.end, atOnce: pod.session === undefined }]
  if (pod.session !== undefined || pod.silentMs < startTimeoutMs) return []
  return [{ pod, why: `its runner was not heard of for ${startTimeoutMs} ms`, atOnce: true }]
}

/** Those made by other settings go as soon as there is another for their place, or nothing is to be kept. */
function stale(unbound: RunnerPod[], fresh: RunnerPod[], { spare, most }: PoolLimits): Removal[] {
  const replaced = fresh.some(({ session }) => session !== undefined) || spare === 0 || unbound.length >= most
  const why = 'it was made by other settings'
  return replaced ? unbound.filter(({ outdated }) => outdated).map((pod) => ({ pod, why, atOnce: false })) : []
}

/** Nobody's, and more than are wanted for a while: the oldest first. */
function surplus(fresh: RunnerPod[], wanted: number, { idleMs }: PoolLimits): Removal[] {
  const idle = fresh.filter(({ session }) => session !== undefined && session.idleMs >= idleMs)
  const oldest = idle.toSorted((a, b) => a.createdAt - b.createdAt)
  const why = 'nobody needs it'
  return oldest.slice(0, Math.max(0, fresh.length - wanted)).map((pod) => ({ pod, why, atOnce: false }))
}

/**
 * A runner of a team ends by itself when it has been idle; one that never got the run for which it became the team's does
 * not know.
 */
const overdueMs = 60_000

function overdue(pods: RunnerPod[], waiting: string[], { idleMs }: PoolLimits): Removal[] {
  const why = 'it is idle, and its runner has not ended by itself'
  const idle = pods.filter(({ session }) => {
    if (session === undefined || session.team === '' || waiting.includes(session.team)) return false
    return session.running === 0 && session.idleMs >= idleMs + overdueMs
  })
  return idle.map((pod) => ({ pod, why, atOnce: false }))
}

/**
 * For teams that wait when the pool is full: the pod that has been idle for longest; where all are busy, one of the team
 * that has the most, if more than one. It finishes what it runs.
 */
function evictions(pods: RunnerPod[], waiting: string[], count: number): Removal[] {
  const bound = pods.filter((pod) => (pod.session?.team ?? '') !== '')
  const idle = bound.filter(({ session }) => session!.running === 0 && !waiting.includes(session!.team))
  const byIdleness = idle.toSorted((a, b) => b.session!.idleMs - a.session!.idleMs)
  const gone = byIdleness.slice(0, Math.max(0, count))
  const why = 'a team without a pod waits, and it has been idle for longest'
  const removals = gone.map((pod) => ({ pod, why, atOnce: false }))
  if (removals.length > 0 || count <= 0) return removals
  const richest =
    bound.map(({ session }) => podsOf(bound, session!.team)).toSorted((a, b) => b.length - a.length)[0] ?? []
  if (richest.length < 2) return []
  const [least] = richest.toSorted((a, b) => a.session!.running - b.session!.running)
  return [{ pod: least!, why: 'a team without a pod waits, and its team has several', atOnce: false }]
}

/** Teams that wait and have no pod. */
function unserved(pods: RunnerPod[], waiting: string[]): string[] {
  return waiting.filter((team) => podsOf(pods, team).length === 0)
}

/** Pods that are on their way out and make room soon: they run nothing. */
function comingFree(pods: RunnerPod[]): number {
  return pods.filter(({ deleting, session }) => deleting && (session === undefined || session.running === 0)).length
}

function podsOf(pods: RunnerPod[], team: string): RunnerPod[] {
  return pods.filter(({ session }) => session?.team === team)
}

function isFull({ session }: RunnerPod): boolean {
  return session !== undefined && session.running >= session.slots
}
