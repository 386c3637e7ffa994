import { ScheduleEffectService } from '@automation/contract/schedule/v1/schedule'
import type { Failure } from '@automation/errors'
import { principalIn, served, type ServedService } from '@automation/rpc'

/** Something that the scheduler has heard of a team. */
export interface Heard {
  team: string
  what: 'zone' | 'process' | 'deleted'
  processId?: string
  value?: string
  revision?: bigint
}

/** What the catalog tells the scheduler, in order; it fails, or does something else first, as a test wants. */
export class ScriptedScheduler {
  heard: Heard[] = []
  /** Thrown by each call while it is set. */
  failure: Failure | undefined
  /** Done before each answer. */
  before: ((heard: Heard) => Promise<void>) | undefined

  of(team: string): Heard[] {
    return this.heard.filter((one) => one.team === team)
  }

  get service(): ServedService<typeof ScheduleEffectService> {
    return served(ScheduleEffectService, {
      noteZone: ({ team, zoneId, revision }, context) => {
        principalIn(context, 'service')
        return this.#hear({ team, what: 'zone', value: zoneId, revision })
      },
      noteProcess: ({ team, processId, name, revision }, context) => {
        principalIn(context, 'service')
        return this.#hear({ team, what: 'process', processId, value: name, revision })
      },
      deleteProcessSchedules: ({ team, processId }, context) => {
        principalIn(context, 'service')
        return this.#hear({ team, what: 'deleted', processId })
      },
    })
  }

  async #hear(heard: Heard): Promise<object> {
    const { failure } = this
    await this.before?.(heard)
    if (failure !== undefined) throw failure
    this.heard.push(heard)
    return {}
  }
}
