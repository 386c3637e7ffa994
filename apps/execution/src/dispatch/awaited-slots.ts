import { LRUCache } from 'lru-cache'
import type { SlotUse } from '../signals.ts'

interface Awaiting {
  replicaId: string
  to: SlotUse
  untilMs: number
}

/** Longer than whoever awaits a slot says nothing of it. */
const believedMs = 5000
/** About as long as it takes from a look at the rows until others know what it has found. */
const onItsWayMs = 1000

/** Which replicas are to be notified when a slot of a team comes free: each once. Pure. */
export class AwaitedSlots {
  readonly #byTeam = new LRUCache<string, Awaiting[]>({ max: 10_000 })
  /** When a slot of a team came free of which nobody was notified. */
  readonly #unnotifiedAtMs = new LRUCache<string, number>({ max: 10_000 })

  /**
   * This replica awaits a slot of this team; whether it is to be notified at once, of one that came free meanwhile. `isUsed`:
   * whether the next run of the queue takes that here.
   */
  add(team: string, replicaId: string, to: SlotUse, nowMs: number, isUsed: () => boolean): boolean {
    const isFree = nowMs - (this.#unnotifiedAtMs.get(team) ?? -Infinity) < onItsWayMs
    if (isFree && (to === 'go on' || !isUsed())) {
      this.#unnotifiedAtMs.delete(team)
      return true
    }
    const others = this.#of(team, nowMs).filter((each) => each.replicaId !== replicaId || each.to !== to)
    this.#byTeam.set(team, [...others, { replicaId, to, untilMs: nowMs + believedMs }])
    return false
  }

  /** A slot has come free; gives who is to be notified. `isUsed`: whether the next run of the queue takes it here. */
  freed(team: string, isUsed: () => boolean, nowMs: number): string[] {
    const notified = this.#notified(team, isUsed, nowMs)
    if (notified.length === 0) this.#unnotifiedAtMs.set(team, nowMs)
    return notified
  }

  #notified(team: string, isUsed: () => boolean, nowMs: number): string[] {
    if (!this.#byTeam.has(team)) return []
    const all = this.#of(team, nowMs)
    const used = isUsed()
    const notified = all.filter(({ to }) => to === 'go on' || !used)
    const left = all.filter((each) => !notified.includes(each))
    if (left.length > 0) this.#byTeam.set(team, left)
    else this.#byTeam.delete(team)
    return [...new Set(notified.map(({ replicaId }) => replicaId))]
  }

  #of(team: string, nowMs: number): Awaiting[] {
    return (this.#byTeam.get(team) ?? []).filter(({ untilMs }) => untilMs > nowMs)
  }
}
