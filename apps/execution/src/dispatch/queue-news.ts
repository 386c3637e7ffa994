import type { Language } from '@automation/contract/common/v1/language'
import type { QueueNewsSchema } from '@automation/contract/execution/v1/execution'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { LeftOver } from '../signals.ts'

/** What one replica tells another of the queue. */
export interface News {
  waiting?: LeftOver
  awaitedTeam?: string
  resumingTeam?: string
  freedTeam?: string
}

/** What a replica is to be told next: what came several times is told once. */
export class GatheredNews {
  readonly #waiting = new Map<string, { pool: string; team: string; languages: Set<Language> }>()
  readonly #awaited = new Set<string>()
  readonly #resuming = new Set<string>()
  readonly #freed = new Set<string>()

  add({ waiting, awaitedTeam, resumingTeam, freedTeam }: News): void {
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
