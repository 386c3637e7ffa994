import { ScheduleEffectService, ScheduleUseService } from '@automation/contract/schedule/v1/schedule'
import type { Failure } from '@automation/errors'
import { memberIn, principalIn, served, type ServedService } from '@automation/rpc'

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
  /** Comments of the schedules that use a version or an alias, by team, process and name. */
  readonly users = new Map<string, (string | undefined)[]>()

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

  get uses(): ServedService<typeof ScheduleUseService> {
    return served(ScheduleUseService, {
      findScheduleUsers: async ({ processId, name, versionId }, context) => {
        principalIn(context, 'service')
        if (this.failure !== undefined) throw this.failure
        const { team } = memberIn(context)
        const comments = [name, versionId].flatMap((used) => this.users.get(`${team} ${processId} ${used}`) ?? [])
        const users = comments.slice(0, 5).map((comment, index) => ({ id: `s${index + 1}`, comment }))
        return { users, count: comments.length }
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
