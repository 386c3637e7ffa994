import type { Language } from '@automation/contract/common/v1/language'
import type { QueueNewsSchema } from '@automation/contract/execution/v1/execution'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { LeftOver } from '../signals.ts'

/** A hint from one replica to another about the queue. */
export interface QueueHint {
  waiting?: LeftOver
  awaitedTeam?: string
  resumingTeam?: string
  freedTeam?: string
}

/** The hints that a replica is sent next: what came several times is sent once. */
export class PendingHints {
  readonly #waiting = new Map<string, { pool: string; team: string; languages: Set<Language> }>()
  readonly #awaited = new Set<string>()
  readonly #resuming = new Set<string>()
  readonly #freed = new Set<string>()

  add({ waiting, awaitedTeam, resumingTeam, freedTeam }: QueueHint): void {
    if (waiting !== undefined) this.#wait(waiting)
    if (awaitedTeam !== undefined) this.#awaited.add(awaitedTeam)
    if (resumingTeam !== undefined) this.#resuming.add(resumingTeam)
    if (freedTeam !== undefined) this.#freed.add(freedTeam)
  }

  get message(): MessageInitShape<typeof QueueNewsSchema> {
    return {
      waiting: [...this.#waiting.values()].map((each) => ({ ...each, languages: [...each.languages] })),
      awaitedTeams: [...this.#awaited],
      resumingTeams: [...this.#resuming],
      freedTeams: [...this.#freed],
    }
  }

  #wait({ pool, team, languages }: LeftOver): void {
    const key = `${pool} ${team}`
    const all = this.#waiting.get(key) ?? { pool, team, languages: new Set<Language>() }
    this.#waiting.set(key, all)
    for (const language of languages) all.languages.add(language)
  }
}
