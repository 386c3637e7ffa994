import {
  RunnerService,
  type ReplicaMessage,
  type ResultSchema,
  type Run,
  type RunnerMessageSchema,
} from '@automation/contract/runner/v1/runner'
import { Failure } from '@automation/errors'
import { ownContext, type CallContext } from '@automation/rpc'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { v7 } from 'uuid'
import type { Ledger } from './ledger.ts'
import { Pipe, type CallNetwork } from './call-network.ts'
import type { Coming, Host, World } from './world.ts'

type Said = MessageInitShape<typeof RunnerMessageSchema>
type Result = MessageInitShape<typeof ResultSchema>

/** What callers ask for. */
interface Work {
  takesMs?: number
  fails?: boolean
}

interface Line {
  to: Host
  said: Pipe<Said>
  isOpen: boolean
  /** Slots that are granted there. */
  granted: number
}

const connectMs = 300
const resendMs = 700

/**
 * A runner without children: it grants its slots, runs what it gets for as long as the parameters say, keeps results
 * until they are stored, renews its lease, and ends its runs where that is lost. It speaks runner.proto as a real one.
 */
export class SimulatedRunner {
  readonly host: Host
  readonly #world: World
  readonly #network: CallNetwork
  readonly #ledger: Ledger
  readonly #slots: number
  readonly #leaseMs: number
  #sessionId = v7()
  #leave = new AbortController()
  #lines = new Map<Host, Line>()
  #runs = new Map<string, Coming>()
  #results = new Map<string, Result>()
  #free: number
  #renewedMs: number

  constructor(host: Host, world: World, network: CallNetwork, ledger: Ledger, slots: number, leaseMs: number) {
    this.host = host
    this.#world = world
    this.#network = network
    this.#ledger = ledger
    this.#slots = this.#free = slots
    this.#leaseMs = leaseMs
    this.#renewedMs = world.nowMs
  }

  start(): void {
    this.#again(connectMs, () => this.#connect())
    this.#again(resendMs, () => this.#resend())
    this.#again(this.#leaseMs / 3, () => void this.#renew())
    this.#connect()
  }

  #again(everyMs: number, work: () => void): void {
    this.#world.after(
      everyMs,
      () => {
        work()
        this.#again(everyMs, work)
      },
      this.host,
    )
  }

  #context(timeoutMs: number): CallContext {
    const context = ownContext({ role: 'runner', team: '', subject: this.host.name, name: this.host.name }, timeoutMs)
    return { ...context, signal: this.#leave.signal }
  }

  /** A line to each replica that there is. */
  #connect(): void {
    for (const to of this.#network.serving(RunnerService)) if (!this.#lines.has(to)) this.#open(to)
  }

  #open(to: Host): void {
    const line: Line = { to, said: new Pipe(), isOpen: false, granted: 0 }
    this.#lines.set(to, line)
    const { sessionId, pool } = { sessionId: this.#sessionId, pool: 'default' }
    line.said.put({
      message: { case: 'hello', value: { sessionId, pool, runnerName: this.host.name, slots: this.#slots } },
    })
    const client = this.#network.clientAt(RunnerService, this.host, to)
    void this.#listen(line, client.work(line.said, this.#context(86_400_000)))
  }

  async #listen(line: Line, answers: AsyncIterable<ReplicaMessage>): Promise<void> {
    const session = this.#sessionId
    try {
      for await (const { message } of answers) {
        if (session !== this.#sessionId) return
        this.#hear(line, message)
      }
    } catch (error) {
      if (error instanceof Failure && error.code === 'session_lost' && session === this.#sessionId) this.#lost()
    }
    if (session !== this.#sessionId || this.#lines.get(line.to) !== line) return
    this.#lines.delete(line.to)
    this.#free += line.granted
    this.#grant()
  }

  #hear(line: Line, message: ReplicaMessage['message']): void {
    if (message.case === 'welcome') {
      line.isOpen = true
      this.#grant()
      this.#resend()
    } else if (message.case === 'run') this.#run(line, message.value)
    else if (message.case === 'kill') this.#end(message.value.executionId)
    else if (message.case === 'resultStored') this.#results.delete(message.value.executionId)
  }

  /** Slots that nobody has are granted to one line each. */
  #grant(): void {
    const open = [...this.#lines.values()].filter(({ isOpen }) => isOpen)
    while (this.#free > 0 && open.length > 0) {
      const line = this.#world.chance.pick(open)
      this.#free -= 1
      line.granted += 1
      line.said.put({ message: { case: 'credit', value: { slots: 1 } } })
    }
  }

  #run(line: Line, run: Run): void {
    const { executionId, fence, parameters } = run
    line.granted -= 1
    this.#ledger.began(executionId, this.host.name)
    // An error handler is given what has failed.
    const { takesMs = 10, fails = false } = JSON.parse(Buffer.from(parameters).toString()) as Work
    const done = () => {
      this.#ledger.finished.add(executionId)
      const end: Result['end'] = fails
        ? { case: 'failed', value: { explanation: 'Error: asked to fail' } }
        : { case: 'finished', value: { returnValue: Buffer.from(JSON.stringify(executionId)) } }
      this.#results.set(executionId, { executionId, fence, end })
      this.#stop(executionId)
      this.#send(line, executionId)
    }
    this.#runs.set(executionId, this.#world.after(takesMs, done, this.host))
  }

  #end(executionId: string): void {
    this.#results.delete(executionId)
    this.#runs.get(executionId)?.cancel()
    this.#stop(executionId)
  }

  #stop(executionId: string): void {
    if (!this.#runs.delete(executionId)) return
    this.#ledger.running.delete(executionId)
    this.#free += 1
    this.#grant()
  }

  #resend(): void {
    const open = [...this.#lines.values()].filter(({ isOpen }) => isOpen)
    if (open.length === 0) return
    for (const executionId of this.#results.keys()) this.#send(this.#world.chance.pick(open), executionId)
  }

  #send(line: Line, executionId: string): void {
    const result = this.#results.get(executionId)
    if (result !== undefined) line.said.put({ message: { case: 'result', value: result } })
  }

  async #renew(): Promise<void> {
    const askedMs = this.#world.nowMs
    const session = this.#sessionId
    const executionIds = [...this.#runs.keys(), ...this.#results.keys()]
    try {
      const client = this.#network.neighboursOf(this.host).client(RunnerService)
      const request = { sessionId: session, executionIds }
      const { endedExecutionIds } = await client.renewSession(request, this.#context(this.#leaseMs / 3))
      if (session !== this.#sessionId) return
      this.#renewedMs = Math.max(this.#renewedMs, askedMs)
      for (const id of endedExecutionIds) this.#end(id)
    } catch (error) {
      if (session !== this.#sessionId) return
      const isLost = error instanceof Failure && error.code === 'session_lost'
      const knowsWhy = error instanceof Failure && error.message.includes('database')
      if (knowsWhy) this.#renewedMs = Math.max(this.#renewedMs, askedMs)
      else if (isLost || this.#world.nowMs - this.#renewedMs > this.#leaseMs * 0.6) this.#lost()
    }
  }

  /** Whatever runs is ended, and a new session begins. */
  #lost(): void {
    this.#world.tell('has lost its session', this.host)
    for (const id of this.#runs.keys()) this.#end(id)
    this.#leave.abort()
    this.#results.clear()
    this.#lines.clear()
    this.#leave = new AbortController()
    this.#sessionId = v7()
    this.#free = this.#slots
    this.#renewedMs = this.#world.nowMs
    this.#connect()
  }
}
