import type { Bond } from './bond.ts'
import { lendings } from './slots.ts'
import type { RunningRuns } from './runs/running.ts'
import type { ReplicaLink } from './session/link.ts'

// How long a replica that is away keeps its share of the slots.
const absentKeepsMs = 5000
const behindPauseMs = 200

/**
 * Lends slots that are free, each to one replica at a time, once for all that changed in a turn. A runner that is to
 * serve one team and is nobody's yet lends a single one.
 */
export class Lending {
  readonly #links: ReplicaLink[]
  readonly #runs: RunningRuns
  readonly #slots: number
  readonly #startedAt = performance.now()
  readonly #bond: Bond
  #isPlanned = false
  #isOver = false
  #pause: NodeJS.Timeout | undefined

  constructor(links: ReplicaLink[], runs: RunningRuns, slots: number, bond: Bond) {
    this.#links = links
    this.#runs = runs
    this.#slots = slots
    this.#bond = bond
  }

  soon(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      if (!this.#isOver) this.#lend()
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

  /** No replica has a slot that it could fill. */
  get isAllBack(): boolean {
    return this.#links.every(({ lent }) => lent === 0)
  }

  #lend(): void {
    const lent = this.#links.reduce((sum, link) => sum + link.lent, 0)
    const isEarly = performance.now() - this.#startedAt < absentKeepsMs
    const { isFree, team } = this.#bond
    const slots = isFree ? 1 : this.#slots
    const more = lendings(this.#links, Math.min(this.#runs.free, slots) - lent, slots, isEarly)
    for (const [at, link] of this.#links.entries()) {
      const count = link.isBehind ? 0 : more[at]!
      if (count === 0 && link.knownTeam === team) continue
      if (!link.send({ case: 'credit', value: { slots: count, team } })) continue
      link.lent += count
      link.knownTeam = team
    }
    if (this.#links.some(({ isBehind }) => isBehind)) this.#later()
    if (isEarly && this.#links.some(({ isConnected }) => !isConnected))
      setTimeout(() => this.soon(), absentKeepsMs).unref()
  }
}
