import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import { specBytes } from '../accept/spec-size.ts'
import { TeamShares } from '../accept/team-shares.ts'

/** What the runner at the other end of one stream may be given to keep. */
export interface RunSpecCacheOptions {
  maxBytes: number
  /** At least as much as the largest spec has. */
  teamMaxBytes: number
}

type SpecMessage =
  | { case: 'putSpec'; value: { key: string; spec: RunSpec } }
  | { case: 'dropSpec'; value: { key: string } }

/** Which specs the runner at the other end of a stream has; it keeps them until they are dropped. */
export class RunSpecCache {
  readonly #held: TeamShares<{ key: string }>
  #dropped: string[] = []

  constructor(options: RunSpecCacheOptions) {
    this.#held = new TeamShares({ ...options, evicted: (key) => this.#dropped.push(key) })
  }

  /** The messages that must go before a run with this spec: none when the runner has it. */
  put(key: string, spec: RunSpec): SpecMessage[] {
    if (this.#held.get(spec.team, key) !== undefined) return []
    this.#held.set(spec.team, key, { key }, specBytes(spec))
    const drops = this.#dropped.map((each) => ({ case: 'dropSpec' as const, value: { key: each } }))
    this.#dropped = []
    return [...drops, { case: 'putSpec', value: { key, spec } }]
  }
}
