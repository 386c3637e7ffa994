import { asFailure, Failure, unavailable } from '@automation/errors'
import type { CallContext, Client, Neighbours, ServedService } from '@automation/rpc'
import { create, type DescMethod, type DescService, type MessageInitShape } from '@bufbuild/protobuf'
import type { Host, World } from './world.ts'

type Message = MessageInitShape<DescMethod['input']>
type Handler = (request: unknown, context: CallContext) => unknown

interface Endpoint {
  host: Host
  handlers: Map<string, Record<string, Handler>>
  /** Calls that are under way here. */
  open: Set<(failure: Failure) => void>
}

/** What messages between machines meet; changes as the world goes on. */
export interface NetworkConditions {
  /** How long one message takes, in ms. */
  latencyMs(): number
  losesRequest(): boolean
  losesAnswer(): boolean
}

const away = () => unavailable('The other side went away')

/** Calls between machines of the world: messages take their time, and may be lost. */
export class CallNetwork {
  readonly #world: World
  readonly #conditions: NetworkConditions
  readonly #endpoints = new Map<Host, Endpoint>()
  /** Streams, by who has opened them. */
  readonly #streams = new Map<Host, Set<(failure: Failure) => void>>()

  constructor(world: World, conditions: NetworkConditions) {
    this.#world = world
    this.#conditions = conditions
  }

  add(host: Host, services: ServedService[]): void {
    const handlers = new Map<string, Record<string, Handler>>()
    for (const { service, handlers: each } of services)
      handlers.set(service.typeName, each as unknown as Record<string, Handler>)
    this.#endpoints.set(host, { host, handlers, open: new Set() })
  }

  /** The machine is gone: who has asked it is told after a while. */
  remove(host: Host): void {
    const endpoint = this.#endpoints.get(host)
    this.#endpoints.delete(host)
    for (const end of [...(endpoint?.open ?? []), ...(this.#streams.get(host) ?? [])]) end(away())
    this.#streams.delete(host)
  }

  /** The machines that serve this. */
  serving(service: DescService): Host[] {
    return this.#all(service).map(({ host }) => host)
  }

  /** A client of a service on one machine. */
  clientAt<S extends DescService>(service: S, from: Host, to: Host): Client<S> {
    return this.#client(service, from, () => this.#endpoints.get(to))
  }

  /** What a machine knows of the others. */
  neighboursOf(host: Host): Neighbours {
    const client = <S extends DescService>(service: S) => this.#client(service, host, () => this.#anyOf(service))
    const at = <S extends DescService>(service: S, address: string) =>
      this.#client(service, host, () => this.#all(service).find((endpoint) => endpoint.host.name === address))
    return {
      client,
      inCells: (service) => new Map([['', client(service)]]),
      replicas: (service) => this.#all(service).map((endpoint) => endpoint.host.name),
      at,
    }
  }

  #all({ typeName }: DescService): Endpoint[] {
    return [...this.#endpoints.values()].filter(({ handlers }) => handlers.has(typeName))
  }

  #anyOf(service: DescService): Endpoint | undefined {
    const all = this.#all(service)
    return all.length === 0 ? undefined : this.#world.chance.pick(all)
  }

  #client<S extends DescService>(service: S, from: Host, choose: () => Endpoint | undefined): Client<S> {
    const calls: Record<string, unknown> = {}
    for (const method of service.methods) {
      calls[method.localName] =
        method.methodKind === 'unary'
          ? (request: Message, context: CallContext) => this.#call(method, from, choose(), request, context)
          : (requests: AsyncIterable<Message>, context: CallContext) =>
              this.#stream(method, from, choose(), requests, context)
    }
    return calls as Client<S>
  }

  async #call(method: DescMethod, from: Host, to: Endpoint | undefined, init: Message, context: CallContext) {
    const conditions = this.#conditions
    const { promise, resolve, reject } = Promise.withResolvers<Message>()
    if (to === undefined) return Promise.reject(away())
    const request = create(method.input, init)
    const back = (act: () => void) => void this.#world.after(conditions.latencyMs(), act, from)
    const failed = (failure: Failure) => back(() => reject(failure))
    // What travels is how long it may take, as each machine has a clock of its own.
    const remainingMs =
      context.deadlineMs === undefined ? 10_000 : context.deadlineMs - from.clockAheadMs - this.#world.nowMs
    const deadline = this.#world.after(remainingMs, () => reject(expired()), from)
    const there = { ...context, deadlineMs: this.#world.nowMs + remainingMs + to.host.clockAheadMs }
    const arrive = async () => {
      if (!this.#endpoints.has(to.host)) return failed(away())
      to.open.add(failed)
      const answered = await this.#answer(to, method, request, there).finally(() => to.open.delete(failed))
      if (conditions.losesAnswer()) return failed(away())
      back(() => (answered instanceof Failure ? reject(answered) : resolve(create(method.output, answered))))
    }
    if (conditions.losesRequest()) failed(away())
    else this.#world.after(conditions.latencyMs(), () => void arrive(), to.host)
    return promise.finally(() => deadline.cancel())
  }

  /** A handler may wait for as much of the world as it likes. */
  async #answer(to: Endpoint, method: DescMethod, request: unknown, context: CallContext): Promise<Message | Failure> {
    try {
      const handler = to.handlers.get(method.parent.typeName)?.[method.localName]
      return (await handler?.(request, context)) as Message
    } catch (error) {
      return asFailure(error)
    }
  }

  #stream(
    method: DescMethod,
    from: Host,
    to: Endpoint | undefined,
    requests: AsyncIterable<Message>,
    { signal, ...context }: CallContext,
  ): AsyncIterable<Message> {
    const there = new Pipe<Message>()
    const back = new Pipe<Message>()
    const leave = new AbortController()
    const end = (error: Failure) => {
      this.#world.after(this.#conditions.latencyMs(), () => back.close(error), from)
      if (to !== undefined) this.#world.after(this.#conditions.latencyMs(), () => leave.abort(error), to.host)
      there.close(error)
    }
    if (to === undefined || !this.#endpoints.has(to.host)) {
      end(away())
      return back
    }
    to.open.add(end)
    const mine = this.#streams.get(from) ?? new Set()
    this.#streams.set(from, mine.add(end))
    signal.addEventListener('abort', () => end(away()), { once: true })
    void this.#carry(method.input, requests, there, to.host)
    const open = () => {
      const handler = to.handlers.get(method.parent.typeName)?.[method.localName]
      try {
        const answers = handler?.(there, { ...context, signal: leave.signal }) as AsyncIterable<Message>
        void this.#carry(method.output, answers, back, from)
      } catch (error) {
        end(asFailure(error))
      }
    }
    this.#world.after(this.#conditions.latencyMs(), open, to.host)
    return back
  }

  /** Messages keep their order, each after the one before it. */
  async #carry(type: DescMethod['input'], from: AsyncIterable<Message>, into: Pipe<Message>, to: Host): Promise<void> {
    let lastMs = 0
    const later = (act: () => void) => {
      lastMs = Math.max(this.#world.nowMs + this.#conditions.latencyMs(), lastMs)
      this.#world.after(lastMs - this.#world.nowMs, act, to)
    }
    try {
      for await (const message of from) later(() => into.put(create(type, message)))
      later(() => into.close())
    } catch (error) {
      later(() => into.close(asFailure(error)))
    }
  }
}

const expired = () => new Failure('deadline_exceeded', 'deadline_exceeded', 'The call took too long')

/** One direction of a stream: what one side puts in, the other takes out in order. */
export class Pipe<T> implements AsyncIterable<T> {
  readonly #items: T[] = []
  #end: { error?: Error } | undefined
  #wake: (() => void) | undefined

  put(item: T): void {
    if (this.#end !== undefined) return
    this.#items.push(item)
    this.#wake?.()
  }

  /** Nothing more comes; with an error, who takes out gets that behind all the rest. */
  close(error?: Error): void {
    this.#end ??= { error }
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for (;;) {
      const item = this.#items.shift()
      if (item !== undefined) yield item
      else if (this.#end?.error !== undefined) throw this.#end.error
      else if (this.#end !== undefined) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
