import { once } from 'node:events'
import { Status } from '@automation/contract/execution/v1/execution'
import {
  FiringService,
  type CheckFiringRequest,
  type StartFiringRequest,
} from '@automation/contract/execution/v1/firing'
import { Failure, notFound } from '@automation/errors'
import { memberIn, principalIn, served, type ServedService } from '@automation/rpc'
import { v7 } from 'uuid'

/** A run that was started. */
export interface StartedRun {
  id: string
  team: string
  request: StartFiringRequest
  /** When, in ms since 1970. */
  at: number
}

/** Execution as the scheduler sees it: starts each firing once, and a run goes on until it is ended. */
export class ScriptedExecutions {
  readonly runs: StartedRun[] = []
  readonly processes = new Map<string, { id: string; versionId?: string }>()
  readonly active = new Set<string>()
  /** Runs stay active until they are taken out of `active`. */
  runsGoOn = false
  /** Nobody hears which of their runs are active. */
  readonly hangingTeams = new Set<string>()
  /** Nobody hears what became of their starts. */
  readonly hangingStarts = new Set<string>()
  zoneId = 'UTC'
  revision = 1n
  /** Thrown in place of an answer. */
  failure: Error | undefined
  /** How often a start was asked for, also of what has started already. */
  asked = 0
  /** Null where nothing is started any more. */
  readonly #known = new Map<string, StartedRun | null>()
  /** Starts happen when this is there, and are answered when the other is. */
  #landed = Promise.resolve()
  #answered = Promise.resolve()

  process(slug: string): string {
    const id = v7()
    this.processes.set(slug, { id })
    this.processes.set(id, { id })
    return id
  }

  of(scheduleId: string): StartedRun[] {
    return this.runs.filter(({ request }) => request.scheduleId === scheduleId)
  }

  /** From now on starts are on their way until `release`. */
  holdStarts(): { release(): void } {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#landed = promise
    return { release: resolve }
  }

  /** From now on starts happen, but are answered only after `release`. */
  holdAnswers(): { release(): void } {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#answered = promise
    return { release: resolve }
  }

  /** As though it had been for a nominal time that was so much earlier. */
  backdate(run: StartedRun, ms: number): void {
    const { scheduleId, nominalTimeMs } = run.request
    this.#known.set(`${scheduleId} ${nominalTimeMs - BigInt(ms)}`, run)
  }

  get service(): ServedService<typeof FiringService> {
    return served(FiringService, {
      startFiring: async (request, context) => {
        principalIn(context, 'service')
        this.asked += 1
        if (this.failure !== undefined) throw this.failure
        this.#process(request.processId, request.tag)
        if (this.hangingStarts.has(memberIn(context).team)) await once(context.signal, 'abort')
        await this.#landed
        const key = `${request.scheduleId} ${request.nominalTimeMs}`
        let run = this.#known.get(key)
        if (run === null) throw new Failure('failed_precondition', 'start_given_up', 'Its start was given up before')
        if (run === undefined) {
          run = { id: v7(), team: memberIn(context).team, request, at: Date.now() }
          this.#known.set(key, run)
          this.runs.push(run)
          if (this.runsGoOn) this.active.add(run.id)
        }
        await this.#answered
        return { executionId: run.id, status: Status.CREATED }
      },
      giveUpFiring: async ({ scheduleId, nominalTimeMs }, context) => {
        principalIn(context, 'service')
        if (this.failure !== undefined) throw this.failure
        const key = `${scheduleId} ${nominalTimeMs}`
        if (!this.#known.has(key)) this.#known.set(key, null)
        return { executionId: this.#known.get(key)?.id }
      },
      checkFiring: async ({ identifier, tag }: CheckFiringRequest, context) => {
        principalIn(context, 'service')
        context.signal.throwIfAborted()
        if (this.failure !== undefined) throw this.failure
        const { id } = this.#process(identifier, tag)
        const { zoneId, revision } = this
        return { processId: id, processName: `The ${identifier}`, zoneId, revision }
      },
      listActive: async ({ executionIds }, context) => {
        principalIn(context, 'service')
        if (this.failure !== undefined) throw this.failure
        if (this.hangingTeams.has(memberIn(context).team)) await once(context.signal, 'abort')
        return { executionIds: executionIds.filter((id) => this.active.has(id)) }
      },
    })
  }

  #process(identifier: string, tag: string) {
    const found = this.processes.get(identifier)
    if (found === undefined) throw notFound('process')
    if (tag === 'gone') throw notFound('version')
    return found
  }
}
