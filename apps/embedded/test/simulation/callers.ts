import { ExecutionService, Status } from '@automation/contract/execution/v1/execution'
import { ScheduleService } from '@automation/contract/schedule/v1/schedule'
import { Failure } from '@automation/errors'
import { ownContext, type CallContext } from '@automation/rpc'
import { processSlug, teams } from './simulated-catalog.ts'
import type { Ledger } from './ledger.ts'
import type { CallNetwork } from './call-network.ts'
import type { Host, World } from './world.ts'

const patienceMs = 5000
const cron = '* * * * * *'

interface Thing {
  id: string
  team: string
}

/** Users, who do one thing after the other without waiting, and remember what they were told. */
export class Callers {
  readonly #world: World
  readonly #network: CallNetwork
  readonly #ledger: Ledger
  readonly #host: Host
  readonly #executions: Thing[] = []
  readonly #schedules: (Thing & { isActive: boolean })[] = []
  #keys = 0
  #isOver = false

  constructor(world: World, network: CallNetwork, ledger: Ledger) {
    this.#world = world
    this.#network = network
    this.#ledger = ledger
    this.#host = world.machine('callers')
  }

  begin(): void {
    this.#world.after(this.#world.chance.between(30, 320), () => this.#next(), this.#host)
  }

  /** Nothing more is asked for, and no schedule goes on, whether anybody knows of it or not. */
  async finish(): Promise<void> {
    this.#isOver = true
    await this.#rest(patienceMs)
    for (const team of teams) while (!(await this.#pauseAll(team))) await this.#rest(200)
  }

  /** Whether all are known to be paused. */
  async #pauseAll(team: string): Promise<boolean> {
    const { schedules } = this.#services()
    const request = { page: { page: 0, limit: 1000 } }
    const listed = await this.#outcomeOf('list schedules', schedules.listSchedules(request, this.#context(team)))
    const active = listed?.schedules.filter(({ nextExecutionAt }) => nextExecutionAt !== undefined)
    for (const { id } of active ?? [])
      await this.#outcomeOf('pause', schedules.pauseSchedule({ id }, this.#context(team)))
    return active?.length === 0
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => this.#world.after(ms, resolve, this.#host))
  }

  #next(): void {
    if (this.#isOver) return
    const { chance } = this.#world
    const acts: [number, () => Promise<unknown>][] = [
      [30, () => this.#start()],
      [20, () => this.#run()],
      [10, () => this.#startTwice()],
      [18, () => this.#kill()],
      [this.#schedules.length < 8 ? 24 : 0, () => this.#schedule()],
      [5, () => this.#pauseOne()],
      [3, () => this.#delete()],
    ]
    let point = chance.next() * acts.reduce((sum, [weight]) => sum + weight, 0)
    const act = acts.find(([weight]) => (point -= weight) < 0)?.[1]
    void act?.()
    this.begin()
  }

  #parameters(): Buffer {
    const { chance } = this.#world
    const takesMs = chance.pick([0, 5, 100, 1000, chance.between(0, 4000)])
    return Buffer.from(JSON.stringify({ takesMs, fails: chance.happens(0.15) }))
  }

  #context(team: string): CallContext {
    return ownContext({ role: 'user', team, subject: `sa-${team}`, name: 'a user' }, patienceMs)
  }

  #services() {
    const neighbours = this.#network.neighboursOf(this.#host)
    return { executions: neighbours.client(ExecutionService), schedules: neighbours.client(ScheduleService) }
  }

  /** What a call gives; undefined where it is refused or its outcome is not known. */
  async #outcomeOf<T>(words: string, call: Promise<T>): Promise<T | undefined> {
    try {
      const answer = await call
      this.#world.tell(`${words}: done`, this.#host)
      return answer
    } catch (error) {
      if (!(error instanceof Failure) || error.kind === 'internal')
        this.#ledger.wrong.push(`${words}: ${String(error)}`)
      this.#world.tell(`${words}: ${error instanceof Failure ? error.code : String(error)}`, this.#host)
      return undefined
    }
  }

  #note(id: string, team: string): void {
    this.#ledger.accepted.add(id)
    this.#executions.push({ id, team })
  }

  async #start(): Promise<void> {
    const team = this.#world.chance.pick(teams)
    const request = { identifier: processSlug, parameters: this.#parameters() }
    const call = this.#services().executions.startExecution(request, this.#context(team))
    const answer = await this.#outcomeOf('start', call)
    if (answer !== undefined) this.#note(answer.executionId, team)
  }

  async #run(): Promise<void> {
    const team = this.#world.chance.pick(teams)
    const start = { identifier: processSlug, parameters: this.#parameters() }
    const call = this.#services().executions.runExecution({ start, waitMs: 3000 }, this.#context(team))
    const outcome = await this.#outcomeOf('run', call)
    if (outcome === undefined) return
    this.#note(outcome.executionId, team)
    if (outcome.status > Status.RUNNING) this.#ledger.answered.set(outcome.executionId, Status[outcome.status])
  }

  /** The same start again and again, as by a client that is not sure. */
  async #startTwice(): Promise<void> {
    const team = this.#world.chance.pick(teams)
    const request = { identifier: processSlug, parameters: this.#parameters() }
    const idempotencyKey = { key: `key ${this.#keys++}`, requestHash: Buffer.alloc(32, 1) }
    const once = async () => {
      const { executions } = this.#services()
      const answer = await this.#outcomeOf(
        'start by key',
        executions.startExecution({ ...request, idempotencyKey }, this.#context(team)),
      )
      if (answer !== undefined) this.#note(answer.executionId, team)
      return answer?.executionId
    }
    const ids = new Set((await Promise.all([once(), once(), this.#rest(300).then(once)])).filter(Boolean))
    if (ids.size > 1) this.#ledger.wrong.push(`I4 one key has started ${[...ids].join(' and ')}`)
  }

  async #kill(): Promise<void> {
    const late = this.#executions.slice(-6)
    if (late.length === 0) return
    const { id, team } = this.#world.chance.pick(late)
    const killed = await this.#outcomeOf(
      `kill ${id}`,
      this.#services().executions.killExecution({ id }, this.#context(team)),
    )
    if (killed !== undefined) this.#ledger.answered.set(id, 'KILLED')
  }

  async #schedule(): Promise<void> {
    const { chance } = this.#world
    const team = chance.pick(teams)
    const isOnce = chance.happens(0.4)
    const text = new Date(this.#world.nowMs + chance.between(500, 6000)).toISOString()
    const request = {
      process: processSlug,
      ...(isOnce ? { dateTime: { text } } : { cron }),
      allowConcurrentExecutions: chance.happens(0.3),
      input: { parameters: this.#parameters() },
    }
    const made = await this.#outcomeOf(
      'schedule',
      this.#services().schedules.createSchedule(request, this.#context(team)),
    )
    if (made === undefined) return
    this.#ledger.schedules.add(made.id)
    this.#schedules.push({ id: made.id, team, isActive: !isOnce })
  }

  async #pauseOne(): Promise<void> {
    const { chance } = this.#world
    if (this.#schedules.length === 0) return
    const schedule = chance.pick(this.#schedules)
    const { id, team, isActive } = schedule
    const { schedules } = this.#services()
    const change = isActive
      ? this.#outcomeOf('pause', schedules.pauseSchedule({ id }, this.#context(team)))
      : this.#outcomeOf('resume', schedules.resumeSchedule({ id }, this.#context(team)))
    if ((await change) !== undefined) schedule.isActive = !isActive
  }

  async #delete(): Promise<void> {
    if (this.#schedules.length === 0) return
    const { id, team } = this.#world.chance.pick(this.#schedules)
    await this.#outcomeOf('delete', this.#services().schedules.deleteSchedule({ id }, this.#context(team)))
  }
}
