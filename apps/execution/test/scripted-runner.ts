import { setTimeout as pause } from 'node:timers/promises'
import type { Language } from '@automation/contract/common/v1/language'
import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import {
  RunnerService,
  type ReplicaMessage,
  type ResultSchema,
  type Run,
  type RunnerMessageSchema,
  type UsageSchema,
} from '@automation/contract/runner/v1/runner'
import { asRunnerWith, ownContext, type CallContext, type Neighbours, type RunnerPodId } from '@automation/rpc'
import { MessageQueue } from '@automation/rpc/message-queue'
import { until } from '@automation/testing'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { v7 } from 'uuid'

type Sent = MessageInitShape<typeof RunnerMessageSchema>
export type End = NonNullable<MessageInitShape<typeof ResultSchema>['end']>

export type Usage = MessageInitShape<typeof UsageSchema>

export interface Script {
  slots?: number
  pool?: string
  /** What a run does; absent: it returns null at once. A run that answers nothing goes on until it is finished by hand. */
  runs?(run: Run, runner: ScriptedRunner): End | undefined | Promise<End | undefined>
  leaseMs?: number
  /** It serves the team of its first run only, and grants one slot until then. */
  oneTeam?: boolean
  /** None: it says none, as one that runs all may. */
  languages?: Language[]
  /** Of a runner that is connected elsewhere already; absent: one of its own. */
  sessionId?: string
  /** It comes with the token of a pool. */
  poolToken?: string
  /** It comes with the key of this pod. */
  pod?: RunnerPodId
  labels?: Record<string, string>
}

/** A call of a run. */
export function asRun({ token }: Run, timeoutMs = 10_000): CallContext {
  return ownContext({ role: 'run', team: '', subject: 'run', name: 'run', token }, timeoutMs)
}

export const nothing: End = { case: 'finished', value: { returnValue: Buffer.from('null') } }

/** A JSON value as the end of a run. */
export function value(json: unknown, transient = false): End {
  return { case: 'finished', value: { returnValue: Buffer.from(JSON.stringify(json)), transient } }
}

/** A runner without children: it speaks runner.proto, grants its slots, and ends runs as its script says. */
export class ScriptedRunner {
  readonly sessionId: string
  readonly started: Run[] = []
  readonly killed: string[] = []
  readonly stored: string[] = []
  readonly specs = new Map<string, RunSpec>()
  readonly #running = new Map<string, Run>()
  /** Running, or ended with a result that is not stored. */
  readonly #named = new Set<string>()
  readonly #script: Required<Omit<Script, 'poolToken' | 'pod'>> & Pick<Script, 'poolToken' | 'pod'>
  readonly #neighbours: Neighbours
  #sent: MessageQueue<Sent>[] = []
  readonly #over: Promise<void>[] = []
  #owner = new Map<string, MessageQueue<Sent>>()
  #stop = new AbortController()
  #most = 0
  failure: unknown
  /** Granted slots that came back unused. */
  returned = 0
  /** How often a replica has asked for more slots. */
  asked = 0

  constructor(neighbours: Neighbours, script: Script = {}) {
    this.#neighbours = neighbours
    this.#script = {
      slots: 4,
      pool: 'default',
      runs: () => nothing,
      leaseMs: 15_000,
      oneTeam: false,
      languages: [],
      sessionId: v7(),
      labels: {},
      ...script,
    }
    this.sessionId = this.#script.sessionId
  }

  /** Opens a stream to each replica and grants its slots in equal parts. */
  async connect(): Promise<this> {
    const clients = this.#neighbours
      .replicas(RunnerService)
      .map((address) => this.#neighbours.at(RunnerService, address))
    const { slots, pool, oneTeam, languages, labels } = this.#script
    const share = Math.ceil(slots / clients.length)
    for (const [index, client] of clients.entries()) {
      const sent = new MessageQueue<Sent>()
      this.#sent.push(sent)
      const { sessionId } = this
      const hello = { sessionId, runnerName: 'scripted', pool, slots, oneTeam, languages, labels }
      sent.push({ message: { case: 'hello', value: hello } })
      const answers = client.work(sent, this.#context())
      const welcome = Promise.withResolvers<void>()
      const over = this.#listen(answers, sent, welcome.resolve).catch((error: unknown) => {
        this.failure = error
        welcome.resolve()
      })
      this.#over.push(over)
      await welcome.promise
      const granted = oneTeam ? Number(index === 0) : Math.max(Math.min(share, slots - index * share), 0)
      if (granted > 0) this.#credit(sent, granted)
    }
    void this.#renewAgainAndAgain()
    return this
  }

  /** `team`: whose it says to be. */
  async renew(team = ''): Promise<string[]> {
    const client = this.#neighbours.client(RunnerService, 'sessions')
    const executionIds = [...this.#named]
    const { endedExecutionIds } = await client.renewSession(
      { sessionId: this.sessionId, executionIds, team },
      this.#context(),
    )
    return endedExecutionIds
  }

  /** Vanishes without a word: no more renewals, streams cut. */
  crash(): void {
    this.#stop.abort()
  }

  /** No more renewals, but the streams stay open, as those of a frozen process. */
  freeze(): void {
    this.#frozen = true
  }
  #frozen = false

  /** Resolves once no replica has it any more, so that none gives it a run. */
  async goodbye(): Promise<void> {
    this.#frozen = true
    for (const sent of this.#sent) sent.push({ message: { case: 'goodbye', value: {} } })
    await Promise.all(this.#over)
  }

  /** Ends a run that its script has left open. */
  finish(executionId: string, end: End = nothing, fence?: bigint, usage?: Usage): void {
    const run = this.#running.get(executionId) ?? this.started.find((one) => one.executionId === executionId)!
    const sent = this.#owner.get(executionId)!
    sent.push({ message: { case: 'result', value: { executionId, fence: fence ?? run.fence, end, usage } } })
    if (this.#running.delete(executionId)) this.#grantAgain(sent)
  }

  /** Slots that are not granted again, because runs that gave theirs back have gone on. */
  debt = 0
  /** With `oneTeam`: whose it is. */
  team = ''

  #grantAgain(sent: MessageQueue<Sent>): void {
    if (this.debt > 0) this.debt -= 1
    else this.#credit(sent, 1)
  }

  #credit(sent: MessageQueue<Sent>, slots: number): void {
    sent.push({ message: { case: 'credit', value: { slots, team: this.team } } })
  }

  /** The first run decides whose it is: every replica is told, and the one that gave it gets the other slots. */
  #belongsTo(team: string, giver: MessageQueue<Sent>): void {
    if (!this.#script.oneTeam || this.team !== '') return
    this.team = team
    for (const sent of this.#sent) this.#credit(sent, sent === giver ? this.#script.slots - 1 : 0)
  }

  send(executionId: string, message: Sent['message']): void {
    this.#owner.get(executionId)!.push({ message })
  }

  /** Says something on its first stream. */
  say(message: Sent['message']): void {
    this.#sent[0]!.push({ message })
  }

  grant(slots: number): void {
    this.#sent[0]!.push({ message: { case: 'credit', value: { slots } } })
  }

  /** Waits for a run to arrive. */
  async run(executionId?: string): Promise<Run> {
    const look = () => {
      if (this.failure !== undefined) throw new Error('the runner has failed', { cause: this.failure })
      return executionId ? this.started.find((run) => run.executionId === executionId) : this.started[0]
    }
    return until(look, { what: 'a run to arrive' })
  }

  get running(): number {
    return this.#running.size
  }

  /** The most runs that it had at the same time. */
  get most(): number {
    return this.#most
  }

  #context(): CallContext {
    const { poolToken, pod } = this.#script
    const self = { role: 'runner', team: '', subject: 'scripted', name: 'scripted', pod } as const
    const context = ownContext(poolToken === undefined ? self : asRunnerWith(poolToken), 600_000)
    return { ...context, signal: this.#stop.signal }
  }

  async #listen(answers: AsyncIterable<ReplicaMessage>, sent: MessageQueue<Sent>, welcome: () => void): Promise<void> {
    for await (const { message } of answers) {
      if (message.case === 'welcome') welcome()
      else if (message.case === 'putSpec') this.specs.set(message.value.key, message.value.spec!)
      else if (message.case === 'dropSpec') this.specs.delete(message.value.key)
      else if (message.case === 'resultStored') {
        this.stored.push(message.value.executionId)
        this.#named.delete(message.value.executionId)
      } else if (message.case === 'slotsReturned') this.returned += message.value.slots
      else if (message.case === 'slotsWanted') this.asked += 1
      else if (message.case === 'kill') this.#killed(message.value.executionId, sent)
      else if (message.case === 'run') void this.#start(message.value, sent)
    }
    sent.close()
  }

  #killed(executionId: string, sent: MessageQueue<Sent>): void {
    this.killed.push(executionId)
    this.#named.delete(executionId)
    if (this.#running.delete(executionId)) this.#grantAgain(sent)
  }

  async #start(run: Run, sent: MessageQueue<Sent>): Promise<void> {
    if (!this.specs.has(run.specKey)) throw new Error('a run came before its spec')
    this.started.push(run)
    this.#running.set(run.executionId, run)
    this.#named.add(run.executionId)
    this.#most = Math.max(this.#most, this.#running.size)
    this.#owner.set(run.executionId, sent)
    this.#belongsTo(this.specs.get(run.specKey)!.team, sent)
    const end = await this.#script.runs(run, this)
    if (end !== undefined && this.#running.has(run.executionId)) this.finish(run.executionId, end)
  }

  async #renewAgainAndAgain(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await pause(this.#script.leaseMs / 3, undefined, { signal: this.#stop.signal }).catch(() => undefined)
      if (this.#stop.signal.aborted || this.#frozen) return
      await this.renew().catch((error: unknown) => (this.failure = error))
    }
  }
}
