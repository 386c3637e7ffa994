import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import type {
  HelloSchema,
  ReplicaMessage,
  Result,
  Run,
  RunnerMessageSchema,
  RunnerService,
  Welcome,
} from '@automation/contract/runner/v1/runner'
import { asFailure, type Failure } from '@automation/errors'
import type { Client, Principal } from '@automation/rpc'
import { MessageQueue } from '@automation/rpc/message-queue'
import type { Logger } from '@automation/service'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { Version } from '../runs/run-starter.ts'

type Outgoing = MessageInitShape<typeof RunnerMessageSchema>
export type OutgoingMessage = NonNullable<Outgoing['message']>

export interface LinkOptions {
  /** Of the replica, as host:port. */
  address: string
  client: Client<typeof RunnerService>
  principal: Principal
  hello(): MessageInitShape<typeof HelloSchema>
  versionOf(spec: RunSpec): Version
  /** The replica knows the session; slots may be granted. */
  welcomed(welcome: Welcome): void
  run(link: ReplicaLink, run: Run, version: Version | undefined): void
  kill(executionId: string): void
  stored(executionId: string): void
  /** Of what was granted, some slots come back unused; or the replica wants none any more. */
  returned(): void
  /** Nobody has a use for these sets of packages any more. */
  removeSets(keys: readonly string[]): void
  /** Runs wait at the replica. */
  slotsWanted(link: ReplicaLink): void
  /** The stream has ended, or none came about: not `wasOpen`. `failure` where it broke. */
  down(link: ReplicaLink, wasOpen: boolean, failure: Failure | undefined): void
  logger: Logger
}

const firstPauseMs = 100
const longestPauseMs = 3000
const welcomeWithinMs = 10_000
const maxUnsentBytes = 32 * 1024 * 1024

/** The Work stream to one replica of execution: opened again whenever it breaks. */
export class ReplicaLink {
  /** Slots granted to this replica that no run has taken. */
  granted = 0
  /** Runs that it assigned and that are on. */
  running = 0
  isConnected = false
  /** So many slots were asked back, and no answer has come. */
  reclaimed = 0
  /** So many more slots the replica gets first, as runs wait there. */
  wanted = 0
  /** Slots that its runs have held and that are free. */
  freed = 0
  /** The replica is about to stop, as it says itself. */
  #isDraining = false
  /** No name leads to the replica any more: once the stream ends, no other is opened. */
  #isLeft = false
  /** There is no stream, and none will be. */
  isOver = false
  /** The team that this replica knows the runner to serve; empty for none. */
  knownTeam = ''
  readonly #options: LinkOptions
  readonly #versions = new Map<string, Version>()
  readonly #stopped = new AbortController()
  #connection: AbortController | undefined
  #outbox: MessageQueue<Outgoing> | undefined
  #loop: Promise<void> | undefined
  /** Ends a pause between two streams. */
  #wake: (() => void) | undefined

  constructor(options: LinkOptions) {
    this.#options = options
  }

  get address(): string {
    return this.#options.address
  }

  /** Slots may be granted here. */
  get takesSlots(): boolean {
    return this.isConnected && !this.#isDraining && !this.#isLeft
  }

  start(): void {
    this.#loop = this.#keepConnected().finally(() => (this.isOver = true))
  }

  /** Whether its name still leads to the replica. A stream that is open goes on until the replica ends it. */
  leave(isLeft: boolean): void {
    if (this.#isLeft === isLeft) return
    this.#isLeft = isLeft
    if (!isLeft) return
    this.#wake?.()
    if (!this.isConnected) this.#connection?.abort()
  }

  /** The replica reads more slowly than its runs write: it is not to get more of them now. */
  get isBehind(): boolean {
    return (this.#outbox?.unread ?? 0) > maxUnsentBytes
  }

  /** Sends a message; false when there is no stream. */
  send(message: OutgoingMessage): boolean {
    if (!this.isConnected || this.#outbox === undefined) return false
    this.#outbox.push({ message })
    return true
  }

  /** Breaks the stream, to open it again under another session. */
  reconnect(): void {
    this.#connection?.abort()
  }

  /** Says goodbye, and ends when the replica has ended the stream, or after `waitMs`. */
  async stop(waitMs: number): Promise<void> {
    const timer = setTimeout(() => this.#connection?.abort(), waitMs)
    this.#stopped.abort()
    if (!this.send({ case: 'goodbye', value: {} })) this.#connection?.abort()
    this.#outbox?.close()
    await this.#loop
    clearTimeout(timer)
  }

  async #keepConnected(): Promise<void> {
    let pauseMs = firstPauseMs
    while (!this.#stopped.signal.aborted && !this.#isLeft) {
      const wasWelcome = await this.#connect()
      if (wasWelcome) pauseMs = firstPauseMs
      await this.#pause(pauseMs * (0.75 + Math.random() / 2))
      pauseMs = Math.min(longestPauseMs, pauseMs * 2)
    }
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#stopped
    if (signal.aborted || this.#isLeft) return
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        resolve()
      }
      this.#wake = done
      const timer = setTimeout(done, ms)
      signal.addEventListener('abort', done)
    })
  }

  async #connect(): Promise<boolean> {
    const { client, principal, hello, logger } = this.#options
    const connection = (this.#connection = new AbortController())
    const outbox = (this.#outbox = new MessageQueue<Outgoing>(bytesOf))
    outbox.push({ message: { case: 'hello', value: hello() } })
    const impatience = setTimeout(() => connection.abort(), welcomeWithinMs)
    let wasWelcome = false
    let failure: Failure | undefined
    try {
      const context = { principal, requestId: crypto.randomUUID(), signal: connection.signal }
      for await (const message of client.work(outbox, context)) {
        clearTimeout(impatience)
        wasWelcome = true
        this.#hear(message)
      }
    } catch (thrown) {
      failure = asFailure(thrown)
      if (!connection.signal.aborted) logger.warn({ err: failure }, 'the stream to a replica broke')
    }
    clearTimeout(impatience)
    outbox.close()
    this.#down(failure)
    return wasWelcome
  }

  #hear({ message }: ReplicaMessage): void {
    const options = this.#options
    switch (message.case) {
      case 'welcome':
        this.isConnected = true
        return options.welcomed(message.value)
      case 'putSpec':
        if (message.value.spec) this.#versions.set(message.value.key, options.versionOf(message.value.spec))
        return
      case 'dropSpec':
        this.#versions.delete(message.value.key)
        return
      case 'run':
        this.granted = Math.max(0, this.granted - 1)
        return options.run(this, message.value, this.#versions.get(message.value.specKey))
      case 'kill':
        return options.kill(message.value.executionId)
      case 'resultStored':
        return options.stored(message.value.executionId)
      case 'slotsReturned':
        this.granted = Math.max(0, this.granted - message.value.slots)
        this.reclaimed = 0
        return options.returned()
      case 'draining':
        this.#isDraining = true
        return options.returned()
      case 'removeSets':
        return options.removeSets(message.value.keys)
      case 'slotsWanted':
        return options.slotsWanted(this)
      case undefined:
      // A newer replica says something that this runner does not know.
    }
  }

  #down(failure: Failure | undefined): void {
    const wasOpen = this.isConnected
    this.isConnected = false
    this.#isDraining = false
    this.granted = 0
    this.reclaimed = 0
    this.wanted = 0
    this.freed = 0
    this.knownTeam = ''
    this.#versions.clear()
    this.#options.down(this, wasOpen, failure)
  }
}

/** About what a message takes: only log entries and values are large. */
function bytesOf({ message }: Outgoing): number {
  if (message?.case !== 'logs' && message?.case !== 'result') return 0
  const chunk = message.case === 'logs' ? message.value.chunk : message.value.lastLogs
  let bytes = 0
  for (const entry of chunk?.entries ?? []) bytes += entry.message?.length ?? 0
  const end = message.case === 'result' ? message.value.end : undefined
  return bytes + (end?.case === 'finished' ? (end.value.returnValue?.length ?? 0) : 0)
}

interface Kept<Link> {
  result: Result
  link: Link
  /** Sends once more what the run has logged at last. */
  repeatLogs: (() => void) | undefined
  /** The stream of that has broken, and no other one has taken it since. */
  hasLostLogs: boolean
  /** Monotonic time of the next try, and how long to wait after that. */
  nextAt: number
  pauseMs: number
}

const firstAgainMs = 2000
const longestAgainMs = 10_000

/** Results that no replica has yet said to have stored: sent again, to any replica, until one has. */
export class KeptResults<Link> {
  readonly #kept = new Map<string, Kept<Link>>()
  readonly #send: (result: Result, preferred: Link) => boolean

  constructor(send: (result: Result, preferred: Link) => boolean) {
    this.#send = send
  }

  add(result: Result, link: Link, repeatLogs?: () => void): void {
    const isSent = this.#send(result, link)
    const nextAt = isSent ? performance.now() + firstAgainMs : 0
    const kept = { result, link, repeatLogs, hasLostLogs: !isSent, nextAt, pauseMs: firstAgainMs }
    this.#kept.set(result.executionId, kept)
  }

  /** Stored, or no more asked for; false when there is no such result. */
  drop(executionId: string): boolean {
    return this.#kept.delete(executionId)
  }

  clear(): void {
    this.#kept.clear()
  }

  /** Sends those whose time has come. */
  sendDue(now: number): void {
    for (const kept of this.#kept.values()) {
      if (kept.nextAt > now) continue
      // Before the result: whoever learns of the end finds the log complete.
      if (kept.hasLostLogs) kept.repeatLogs?.()
      if (!this.#send(kept.result, kept.link)) continue
      kept.hasLostLogs = false
      kept.pauseMs = Math.min(longestAgainMs, kept.pauseMs * 2)
      kept.nextAt = now + kept.pauseMs
    }
  }

  /** The streams that these went over have broken: they are due at once. */
  hasten(isBroken: (link: Link) => boolean): void {
    for (const kept of this.#kept.values())
      if (isBroken(kept.link)) Object.assign(kept, { nextAt: 0, hasLostLogs: true })
  }

  has(executionId: string): boolean {
    return this.#kept.has(executionId)
  }

  get ids(): string[] {
    return [...this.#kept.keys()]
  }

  get size(): number {
    return this.#kept.size
  }
}
