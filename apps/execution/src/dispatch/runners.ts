import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import type { ReplicaMessageSchema } from '@automation/contract/runner/v1/runner'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { LRUCache } from 'lru-cache'
import type { RunTokens } from '@automation/rpc/run-token'
import type { MessageQueue } from '@automation/rpc/message-queue'
import type { RunTraces } from '../run-traces.ts'
import { specBytes, type Specs, TeamShares } from '../accept/specs.ts'
import type { Languages } from './languages.ts'
import type { Slot, Slots } from './slots.ts'

export type ReplicaMessageInit = NonNullable<MessageInitShape<typeof ReplicaMessageSchema>['message']>

/** A runner's Work stream to this replica. */
export interface RunnerStream {
  sessionId: string
  runnerName: string
  pool: string
  /** The pool is this team's; no run of others goes there. */
  owner: string | undefined
  /** It came with the key of its pod: execution decides whose it is, and notes it before anything of the team goes there. */
  isPod: boolean
  /** Whose it is, as its session's row says. */
  team: string | undefined
  slots: number
  oneTeam: boolean
  languages: Languages
  teamMaxRunners: number
  oneTeamRemedy?: string
  messages: MessageQueue<{ message: ReplicaMessageInit }>
}

/** A run whose RUNNING row is committed, with all that the runner gets to know. */
export interface Assignment {
  id: string
  fence: bigint
  slot: Slot
  team: string
  pool: string
  spec: RunSpec
  parameters: Uint8Array
  request?: Uint8Array
  comment?: string
  /** Of the schedule whose run it is; its comment is the run's. */
  scheduleId?: string
  timeoutMs: number
  freshProcess: boolean
  depth: number
  createdBy: string
  initiatedBy?: string
  /** Of who started it. */
  traceparent?: string
}

interface Active {
  sessionId: string
  team: string
  pool: string
  holds: boolean
}

/** A token outlives its run by this, for calls on their way when time is over. */
const tokenGraceS = 30

/** The runners that have a stream to this replica, their slots, and the runs that this replica gave them. */
export class Runners {
  readonly slots: Slots
  readonly #streams = new Map<string, { stream: RunnerStream; cache: RunSpecCache }>()
  readonly #active = new Map<string, Active>()
  readonly #killed = new LRUCache<string, true>({ max: 10_000 })
  readonly #specs: Specs
  readonly #tokens: RunTokens
  readonly #traces: RunTraces
  readonly #cacheOptions: RunSpecCacheOptions

  constructor(
    specs: Specs,
    tokens: RunTokens,
    traces: RunTraces,
    { slots, ...cacheOptions }: RunSpecCacheOptions & { slots: Slots },
  ) {
    this.slots = slots
    this.#cacheOptions = cacheOptions
    this.#specs = specs
    this.#tokens = tokens
    this.#traces = traces
  }

  open(stream: RunnerStream): void {
    const old = this.#streams.get(stream.sessionId)?.stream
    if (old !== undefined) this.close(old)
    old?.messages.close()
    this.#streams.set(stream.sessionId, { stream, cache: new RunSpecCache(this.#cacheOptions) })
    this.slots.open(stream)
    if (stream.isPod && stream.team !== undefined) this.slots.bind(stream.sessionId, stream.team)
  }

  close(stream: RunnerStream): void {
    if (this.#streams.get(stream.sessionId)?.stream !== stream) return
    this.#streams.delete(stream.sessionId)
    this.slots.close(stream.sessionId)
    for (const [id, { sessionId }] of this.#active) if (sessionId === stream.sessionId) this.ended(id)
  }

  /** The pod of a session serves this team, as the session's row says. */
  bind(sessionId: string, team: string): void {
    const stream = this.#streams.get(sessionId)?.stream
    if (stream === undefined) return
    stream.team = team
    this.slots.bind(sessionId, team)
  }

  /** Whether it is noted that the runner which a run goes to may have it; where its stream has gone, no run goes there. */
  isBoundTo({ slot, team }: Assignment): boolean {
    const stream = this.#streams.get(slot.sessionId)?.stream
    return stream === undefined || !stream.isPod || stream.team === team
  }

  /** The runner grants slots over this stream; `team` is whose it is, where it serves one and says so. */
  grant(stream: RunnerStream, slots: number, team?: string): void {
    if (this.#streams.get(stream.sessionId)?.stream === stream) this.slots.grant(stream.sessionId, slots, team)
  }

  /** The session has ended: its stream is cut, and nothing goes there any more. */
  drop(sessionId: string, failure: Error): void {
    const stream = this.#streams.get(sessionId)?.stream
    if (stream === undefined) return
    this.close(stream)
    stream.messages.close(failure)
  }

  /**
   * Assigns a run, once; to a pod only once it is bound to the team. Where the stream has gone since its RUNNING row was
   * written, it is left to the lease: the runner does not name it and it ends as lost.
   */
  assign(run: Assignment): boolean {
    const open = this.#streams.get(run.slot.sessionId)
    if (open === undefined) return false
    if ((open.stream.owner ?? run.team) !== run.team || !this.isBoundTo(run))
      throw new Error('A run goes to a runner of another team')
    const slot = this.slots.usable(run.slot, run.team)
    if (slot === undefined) return false
    if (this.#killed.delete(run.id)) {
      this.slots.giveBack(slot)
      return false
    }
    const { stream, cache } = open
    const specKey = this.#specs.keyOf(run.spec)
    for (const message of cache.put(specKey, run.spec)) stream.messages.push({ message })
    const { id, fence, parameters, request, comment, scheduleId, timeoutMs, freshProcess } = run
    const value = {
      executionId: id,
      fence,
      specKey,
      parameters,
      request,
      comment,
      scheduleId,
      scheduleComment: scheduleId === undefined ? undefined : comment,
      timeoutMs,
      freshProcess,
      token: this.#token(run),
      traceparent: this.#traces.contextOf(run),
    }
    stream.messages.push({ message: { case: 'run', value } })
    this.#traces.begun(run)
    this.#active.set(id, { sessionId: slot.sessionId, team: run.team, pool: run.pool, holds: true })
    this.slots.hold(run.pool, run.team)
    return true
  }

  /** Tells the runner to end the run's processes. A run that is not there yet is not assigned any more. */
  kill(executionId: string, sessionId?: string): void {
    const session = this.#active.get(executionId)?.sessionId
    if (session === undefined) this.#killed.set(executionId, true)
    const open = this.#streams.get(session ?? sessionId ?? '')
    open?.stream.messages.push({ message: { case: 'kill', value: { executionId } } })
  }

  /** Its runner has brought the run's result: it holds no slot any more, however long storing that takes. */
  finished(executionId: string, sessionId: string): void {
    if (this.#active.get(executionId)?.sessionId === sessionId) this.waits(executionId, true)
  }

  /** The run is over, or no more this replica's. */
  ended(executionId: string): void {
    this.waits(executionId, true)
    this.#active.delete(executionId)
  }

  /** The run gives its slot back while it waits for another one, and takes it again. */
  waits(executionId: string, waits: boolean): void {
    const active = this.#active.get(executionId)
    if (active === undefined || active.holds === !waits) return
    active.holds = !waits
    if (waits) this.slots.leave(active.pool, active.team)
    else this.slots.hold(active.pool, active.team)
  }

  has(executionId: string): boolean {
    return this.#active.has(executionId)
  }

  /** The team of a run that was assigned here; empty for others. */
  teamOf(executionId: string): string {
    return this.#active.get(executionId)?.team ?? ''
  }

  /** Runs that were assigned here and have not ended. */
  get activeIds(): string[] {
    return [...this.#active.keys()]
  }

  get streams(): RunnerStream[] {
    return [...this.#streams.values()].map(({ stream }) => stream)
  }

  #token({ team, id, pool, depth, createdBy, initiatedBy, timeoutMs, spec }: Assignment): string {
    const exp = Math.ceil((Date.now() + timeoutMs) / 1000) + tokenGraceS
    const installs = spec.isInstall ? spec.dependencies?.key : undefined
    return this.#tokens.sign({ team, executionId: id, pool, depth, createdBy, initiatedBy, installs, exp })
  }
}

/** What the runner at the other end of one stream may be given to keep. */
interface RunSpecCacheOptions {
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
