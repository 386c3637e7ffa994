import type { ScheduleEffectService } from '@automation/contract/schedule/v1/schedule'
import { asFailure, type Failure } from '@automation/errors'
import { asService, ownContext, type CallContext, type Client } from '@automation/rpc'
import { failPoint, type Logger } from '@automation/service'
import { effectsOf, effectDelivered, teamsWithEffects, type Effect } from './store/effects.ts'
import type { Store } from './store/store.ts'

interface EffectsContext {
  store: Store
  schedules: Client<typeof ScheduleEffectService>
  logger: Logger
}

/** How long a change waits until the scheduler has heard of it. */
const timeoutMs = 2000
const teamsAtOnce = 500

/** Tells the scheduler of changes that are noted: each at least once, those of a team in order. */
export class Effects {
  readonly #context: EffectsContext

  constructor(context: EffectsContext) {
    this.#context = context
  }

  /** Tells what is noted for a team, as part of the call that has changed it. What can't be told now is told later. */
  async tell(team: string, { requestId, traceparent }: CallContext): Promise<void> {
    failPoint('effects-before-telling')
    try {
      const left = await this.#tell(team, {
        ...ownContext(asService('process-catalog', team), timeoutMs),
        requestId,
        traceparent,
      })
      if (left !== undefined) throw left
    } catch (error) {
      this.#context.logger.warn({ err: error, team }, 'the scheduler is told of a change later')
    }
  }

  /** Tells what is left over. Fails with the first failure, after trying all that may go well all the same. */
  async sweep(): Promise<void> {
    let first: Failure | undefined
    for (let teams = await this.#teams(''); teams.length > 0; teams = await this.#teams(teams.at(-1)!)) {
      for (const team of teams) {
        const left = await this.#tell(team, ownContext(asService('process-catalog', team), timeoutMs))
        if (left !== undefined && isAway(left)) throw left
        first ??= left
      }
    }
    if (first !== undefined) throw first
  }

  #teams(after: string): Promise<string[]> {
    return teamsWithEffects(this.#context.store, after, teamsAtOnce)
  }

  /** The first failure, where something is left to be told; one that is refused holds up none of the others. */
  async #tell(team: string, call: CallContext): Promise<Failure | undefined> {
    const { store } = this.#context
    let first: Failure | undefined
    for (const effect of await effectsOf(store, team)) {
      try {
        await this.#send(effect, call)
      } catch (error) {
        first ??= asFailure(error)
        if (isAway(first)) return first
        continue
      }
      failPoint('effects-after-telling')
      await effectDelivered(store, effect)
    }
    return first
  }

  async #send({ team, subject, value, revision }: Effect, call: CallContext): Promise<void> {
    const { schedules } = this.#context
    if (subject === 'zone') await schedules.noteZone({ team, zoneId: value, revision }, call)
    else await schedules.noteProcess({ team, processId: subject, name: value, revision }, call)
  }
}

function isAway({ kind }: Failure): boolean {
  return kind === 'unavailable' || kind === 'deadline_exceeded' || kind === 'unimplemented'
}
