import type { QueueNews } from '@automation/contract/execution/v1/execution'
import { LRUCache } from 'lru-cache'
import { AwaitedSlots } from './awaited-slots.ts'
import type { Backlog } from './backlog.ts'
import type { Claims } from './claims.ts'
import type { Peers } from './peers.ts'
import type { Runners } from './runners.ts'
import type { LeftOver, Signals, SlotUse } from '../signals.ts'

export interface QueueHintsContext {
  peers: Peers
  backlog: Backlog
  claims: Claims
  runners: Runners
  signals: Signals
}

/** Less than others believe that a slot is awaited. */
const sayAgainMs = 2000

/**
 * The hints that replicas send each other about the queue: each only what the other may have a use for. A hint that is lost costs
 * time and nothing else, as each replica looks at the rows of the queue every second (`upkeep.ts`).
 */
export class QueueHints {
  readonly #context: QueueHintsContext
  /** By others. */
  readonly #awaited = new AwaitedSlots()
  /** Until when others know that a slot of a team is awaited here. */
  readonly #said = new LRUCache<string, number>({ max: 10_000 })
  /** What was heard while no slot was free for it, by pool. */
  readonly #unheeded = new Map<string, LRUCache<string, LeftOver>>()

  constructor(context: QueueHintsContext) {
    this.#context = context
    const { signals, peers } = context
    signals.leftOver.on((waiting) => peers.hint({ waiting }))
    signals.slotAwaited.on(({ team, to }) => this.#await(team, to))
    signals.slotFreed.on((team) => this.#freed(team))
    signals.slotGranted.on((pool) => this.#heed(pool))
  }

  /** Another replica says it. */
  hear({ replicaId, waiting, awaitedTeams, resumingTeams, freedTeams }: QueueNews): void {
    for (const team of awaitedTeams) this.#isAwaited(team, replicaId, 'begin')
    for (const team of resumingTeams) this.#isAwaited(team, replicaId, 'go on')
    for (const { pool, team, languages } of waiting) this.#wait({ pool, team, languages })
    for (const pool of new Set(waiting.map((each) => each.pool))) this.#heed(pool)
    for (const team of freedTeams) {
      this.#said.delete(`begin ${team}`)
      this.#said.delete(`go on ${team}`)
      this.#context.claims.slotFreed(team)
    }
  }

  /** A team is known to have queued runs only while there is a slot: else nobody would find out that it has none any more. */
  #wait(waiting: LeftOver): void {
    const { pool, team } = waiting
    const teams = this.#unheeded.get(pool) ?? new LRUCache<string, LeftOver>({ max: 10_000 })
    this.#unheeded.set(pool, teams)
    teams.set(team, waiting)
  }

  #heed(pool: string): void {
    const { runners, backlog, claims } = this.#context
    const teams = this.#unheeded.get(pool)
    if (teams === undefined || runners.slots.credit(pool) === 0) return
    this.#unheeded.delete(pool)
    for (const { team, languages } of teams.values()) backlog.add(pool, team, languages)
    claims.look(pool)
  }

  #await(team: string, to: SlotUse): void {
    const key = `${to} ${team}`
    const nowMs = performance.now()
    if (nowMs < (this.#said.get(key) ?? 0)) return
    this.#said.set(key, nowMs + sayAgainMs)
    this.#context.peers.hint(to === 'begin' ? { awaitedTeam: team } : { resumingTeam: team })
  }

  #isAwaited(team: string, replicaId: string, to: SlotUse): void {
    const { claims, peers } = this.#context
    const isFree = this.#awaited.add(team, replicaId, to, performance.now(), () => claims.canBegin(team))
    if (isFree) peers.hint({ freedTeam: team }, [replicaId])
  }

  #freed(team: string): void {
    const { claims, peers } = this.#context
    const notified = this.#awaited.freed(team, () => claims.canBegin(team), performance.now())
    if (notified.length > 0) peers.hint({ freedTeam: team }, notified)
  }
}
