import type { ReplicaLink } from '../session/link.ts'
import type { RunningRuns, TeamBinding } from './running.ts'

// How long a replica that is away keeps its share of the slots.
const absentKeepsMs = 5000
const behindPauseMs = 200
// A replica is left with this part of its share, however much others want.
const reservedPart = 1 / 4

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

  /** Asks slots back that lie idle while another replica, such as one that has just come, has next to none. */
  balance(): void {
    if (this.#isOver || this.#binding.isFree) return
    const takers = this.#takers()
    for (const [at, slots] of excessOf(takers, this.#slots).entries()) this.#reclaim(takers[at]!, slots)
  }

  /** Runs wait at this replica: it gets some of what lies idle at others, or the next slot that comes free. */
  want(link: ReplicaLink): void {
    if (this.#isOver || this.#binding.isFree || this.#links.length === 1) return
    const others = this.#takers().filter((taker) => taker !== link)
    const asked = idleOf(others, this.#slots, this.#links.length).map((slots, at) => this.#reclaim(others[at]!, slots))
    const sum = asked.reduce((all, slots) => all + slots, 0)
    link.wanted = Math.max(link.wanted, sum, 1)
  }

  /** No replica has a slot that it could fill. */
  get isAllBack(): boolean {
    return this.#links.every(({ granted }) => granted === 0)
  }

  #takers(): ReplicaLink[] {
    return this.#links.filter(({ takesSlots, isBehind }) => takesSlots && !isBehind)
  }

  /** Gives how many were asked back. */
  #reclaim(link: ReplicaLink, slots: number): number {
    if (slots === 0 || link.reclaimed > 0 || !link.send({ case: 'reclaim', value: { slots } })) return 0
    return (link.reclaimed = slots)
  }

  #grant(): void {
    const granted = this.#links.reduce((sum, link) => sum + link.granted, 0)
    const isEarly = performance.now() - this.#startedAt < absentKeepsMs
    const { isFree, team } = this.#binding
    const slots = isFree ? 1 : this.#slots
    const more = grantsFor(this.#links, Math.min(this.#runs.free, slots) - granted, slots, isEarly)
    for (const [at, link] of this.#links.entries()) {
      const count = link.isBehind ? 0 : more[at]!
      link.freed = 0
      if (count === 0 && link.knownTeam === team) continue
      if (!link.send({ case: 'credit', value: { slots: count, team } })) continue
      link.granted += count
      link.wanted = Math.max(0, link.wanted - count)
      link.knownTeam = team
    }
    if (this.#links.some(({ isBehind }) => isBehind)) this.#later()
    if (isEarly && this.#links.some(({ takesSlots }) => !takesSlots))
      setTimeout(() => this.soon(), absentKeepsMs).unref()
  }
}

/** A replica that slots can be granted to, and how many it has or holds a run in. */
interface Holder {
  granted: number
  running: number
}

interface Grantee extends Holder {
  takesSlots: boolean
  /** So many it gets first. */
  wanted: number
  /** So many have come free of its runs. */
  freed: number
}

/**
 * How many more slots to grant to each of these, when `free` are neither taken nor granted. First come those that want
 * some, then those that have next to none; then a slot goes back to the replica whose run it has held, as the next run
 * is likely to be that one's, too; what is left goes to those with the least. What a replica that is away would have is
 * kept for it while `keepForAbsent`.
 */
export function grantsFor(replicas: Grantee[], free: number, slots: number, keepForAbsent: boolean): number[] {
  const grants = replicas.map(() => 0)
  const connected = replicas.flatMap(({ takesSlots }, at) => (takesSlots ? [at] : []))
  if (connected.length === 0) return grants
  const absent = keepForAbsent ? replicas.length - connected.length : 0
  const kept = Math.floor((slots * absent) / replicas.length)
  const reserve = reserveOf(slots, replicas.length)
  const has = (at: number) => replicas[at]!.granted + replicas[at]!.running + grants[at]!
  const poorest = (some: number[]) => some.reduce((best, at) => (has(at) < has(best) ? at : best))
  const freed = replicas.map((replica) => replica.freed)
  for (let left = free - kept; left > 0; left -= 1) {
    const wanting = connected.filter((at) => replicas[at]!.wanted > grants[at]!)
    const poor = connected.filter((at) => has(at) < reserve)
    const owed = connected.filter((at) => freed[at]! > 0)
    const next = poorest([wanting, poor, owed].find((some) => some.length > 0) ?? connected)
    if (wanting.length === 0 && poor.length === 0 && owed.length > 0) freed[next]! -= 1
    grants[next]! += 1
  }
  return grants
}

/** How many of its granted slots each of these has to give, so that none has less than its reserve. */
export function excessOf(takers: Holder[], slots: number): number[] {
  const given = takers.map(() => 0)
  const reserve = reserveOf(slots, takers.length)
  const wanting = takers.reduce((sum, { granted, running }) => sum + Math.max(0, reserve - granted - running), 0)
  const left = (at: number) => takers[at]!.granted - given[at]!
  for (let count = 0; count < wanting; count += 1) {
    const richest = takers.reduce((best, _, at) => (left(at) > left(best) ? at : best), 0)
    if (left(richest) <= reserve) break
    given[richest]! += 1
  }
  return given
}

/** How many slots each of these gives to another one that wants some: half of what it has beyond its reserve. */
export function idleOf(others: Holder[], slots: number, replicas: number): number[] {
  const reserve = reserveOf(slots, replicas)
  return others.map(({ granted }) => Math.ceil(Math.max(0, granted - reserve) / 2))
}

function reserveOf(slots: number, replicas: number): number {
  return Math.ceil((slots / replicas) * reservedPart)
}
