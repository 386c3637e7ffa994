import { RecentlySeen } from '../recently-seen.ts'
import type { ActiveRun } from './active-run.ts'
import type { ReplicaLink } from '../session/link.ts'

/**
 * The runs of this runner, and how many of its slots they take. A run that waits for others takes none, and gets one
 * again, before any new run, when the last of them has ended.
 */
export class RunningRuns {
  readonly #slots: number
  readonly #freed: () => void
  readonly #runs = new Map<string, ActiveRun>()
  /** How many others each of these waits for; none, when it only waits for a slot. */
  readonly #waiting = new Map<ActiveRun, number>()
  readonly #teams = new RecentlySeen()
  readonly #resuming: { run: ActiveRun; go: () => void }[] = []

  /** `freed` is told where a slot may have come free. */
  constructor(slots: number, freed: () => void) {
    this.#slots = slots
    this.#freed = freed
  }

  get(executionId: string): ActiveRun | undefined {
    return this.#runs.get(executionId)
  }

  add(run: ActiveRun): void {
    this.#runs.set(run.id, run)
    this.#teams.came(run.version.spec.team)
  }

  /** Whether runs of other teams came a moment ago. */
  isAmongOthers(run: ActiveRun): boolean {
    return this.#teams.others(run.version.spec.team)
  }

  isWaiting(run: ActiveRun): boolean {
    return this.#waiting.has(run)
  }

  remove(run: ActiveRun): void {
    this.#runs.delete(run.id)
    this.#waiting.delete(run)
    this.#letGo(run)
    this.#resume()
    this.#freed()
  }

  /** It waits for one more, and gives its slot back. */
  waits(run: ActiveRun): void {
    if (!this.#runs.has(run.id)) return
    this.#waiting.set(run, (this.#waiting.get(run) ?? 0) + 1)
    // What it has waited for may be told at once: it takes no slot anyway.
    this.#letGo(run)
    this.#resume()
    this.#freed()
  }

  /** It waits for one less. Resolves at once while it waits for others still, else when it has a slot again. */
  async goesOn(run: ActiveRun): Promise<void> {
    const count = this.#waiting.get(run)
    if (count === undefined) return
    this.#waiting.set(run, count - 1)
    if (count > 1) return
    await new Promise<void>((go) => {
      this.#resuming.push({ run, go })
      this.#resume()
    })
  }

  /** Slots that no run takes. */
  get free(): number {
    return this.#slots - (this.#runs.size - this.#waiting.size)
  }

  get ids(): Iterable<string> {
    return this.#runs.keys()
  }

  get size(): number {
    return this.#runs.size
  }

  [Symbol.iterator](): Iterator<ActiveRun> {
    return this.#runs.values()
  }

  #letGo(run: ActiveRun): void {
    const at = this.#resuming.findIndex((each) => each.run === run)
    if (at >= 0) this.#resuming.splice(at, 1)[0]!.go()
  }

  #resume(): void {
    while (this.free > 0 && this.#resuming.length > 0) {
      const { run, go } = this.#resuming.shift()!
      this.#waiting.delete(run)
      go()
    }
  }
}

// How long a replica that is away keeps its share of the slots.
const absentKeepsMs = 5000
// A replica that has so many more free slots than its share gives some to those with fewer.
const unequal = 2
const behindPauseMs = 200

/**
 * Grants slots that are free, each to one replica at a time, once for all that changed in a turn. A runner that is to
 * serve one team and is nobody's yet grants a single one.
 */
export class SlotGrants {
  readonly #links: ReplicaLink[]
  readonly #runs: RunningRuns
  readonly #slots: number
  readonly #startedAt = performance.now()
  readonly #binding: TeamBinding
  #isPlanned = false
  #isOver = false
  #pause: NodeJS.Timeout | undefined

  constructor(links: ReplicaLink[], runs: RunningRuns, slots: number, binding: TeamBinding) {
    this.#links = links
    this.#runs = runs
    this.#slots = slots
    this.#binding = binding
  }

  soon(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      if (!this.#isOver) this.#grant()
    })
  }

  stop(): void {
    this.#isOver = true
  }

  #later(): void {
    if (this.#pause !== undefined) return
    this.#pause = setTimeout(() => {
      this.#pause = undefined
      this.soon()
    }, behindPauseMs).unref()
  }

  /** Asks slots back that lie idle at one replica while another, such as one that has just come, has fewer than its share. */
  balance(): void {
    if (this.#isOver || this.#binding.isFree) return
    const takers = this.#links.filter(({ takesSlots, isBehind }) => takesSlots && !isBehind)
    for (const [at, slots] of excessOf(takers).entries()) {
      const link = takers[at]!
      if (slots === 0 || link.reclaimed > 0) continue
      if (link.send({ case: 'reclaim', value: { slots } })) link.reclaimed = slots
    }
  }

  /** No replica has a slot that it could fill. */
  get isAllBack(): boolean {
    return this.#links.every(({ granted }) => granted === 0)
  }

  #grant(): void {
    const granted = this.#links.reduce((sum, link) => sum + link.granted, 0)
    const isEarly = performance.now() - this.#startedAt < absentKeepsMs
    const { isFree, team } = this.#binding
    const slots = isFree ? 1 : this.#slots
    const more = grantsFor(this.#links, Math.min(this.#runs.free, slots) - granted, slots, isEarly)
    for (const [at, link] of this.#links.entries()) {
      const count = link.isBehind ? 0 : more[at]!
      if (count === 0 && link.knownTeam === team) continue
      if (!link.send({ case: 'credit', value: { slots: count, team } })) continue
      link.granted += count
      link.knownTeam = team
    }
    if (this.#links.some(({ isBehind }) => isBehind)) this.#later()
    if (isEarly && this.#links.some(({ takesSlots }) => !takesSlots))
      setTimeout(() => this.soon(), absentKeepsMs).unref()
  }
}

/** A replica that slots can be granted to, and how many it has or holds a run in. */
interface Grantee {
  takesSlots: boolean
  granted: number
  running: number
}

/**
 * How many more slots to grant to each of these, when `free` are neither taken nor granted. Those with the least come
 * first; what a replica that is away would have is kept for it while `keepForAbsent`.
 */
export function grantsFor(replicas: Grantee[], free: number, slots: number, keepForAbsent: boolean): number[] {
  const grants = replicas.map(() => 0)
  const connected = replicas.flatMap(({ takesSlots }, at) => (takesSlots ? [at] : []))
  if (connected.length === 0) return grants
  const absent = keepForAbsent ? replicas.length - connected.length : 0
  const kept = Math.floor((slots * absent) / replicas.length)
  for (let left = free - kept; left > 0; left -= 1) {
    const has = (at: number) => replicas[at]!.granted + replicas[at]!.running + grants[at]!
    const poorest = connected.reduce((best, at) => (has(at) < has(best) ? at : best))
    grants[poorest]! += 1
  }
  return grants
}

/** How many of its granted slots each of these has beyond its share; none while all have about the same. */
export function excessOf(takers: Pick<Grantee, 'granted' | 'running'>[]): number[] {
  const all = takers.reduce((sum, { granted, running }) => sum + granted + running, 0)
  const share = Math.ceil(all / takers.length)
  const isPoor = takers.some(({ granted, running }) => granted + running <= share - unequal)
  return takers.map(({ granted, running }) => (isPoor ? Math.max(0, Math.min(granted, granted + running - share)) : 0))
}

/** Whom the runner serves: every team or, where it is for one, that of the first run that it begins. */
export class TeamBinding {
  readonly #oneTeam: boolean
  #team = ''

  constructor(oneTeam: boolean) {
    this.#oneTeam = oneTeam
  }

  /** Whether a run of this team may begin here; the first one decides. */
  admits(team: string): boolean {
    if (!this.#oneTeam) return true
    if (this.#team === '') this.#team = team
    return this.#team === team
  }

  /** It is for one team, and nobody's yet. */
  get isFree(): boolean {
    return this.#oneTeam && this.#team === ''
  }

  /** The one that it serves; empty where that is not decided, or it serves all. */
  get team(): string {
    return this.#team
  }
}
