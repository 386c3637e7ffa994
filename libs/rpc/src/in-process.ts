import { create, type DescMethod, type DescService } from '@bufbuild/protobuf'
import { asFailure, Failure } from '@automation/errors'
import type { Tracer } from '@automation/tracing'
import { type CallContext, endOf, TimedCall } from './context.ts'
import type { Client, Handlers, ServedService } from './service-types.ts'
import { traced } from './traced.ts'

/** Calls a service of the same process directly: messages by reference, deadlines and failures as on the wire. */
export function inProcess<S extends DescService>(service: S, handlers: Handlers<S>): Client<S> {
  const calls: Record<string, unknown> = {}
  for (const method of service.methods) {
    const handler = (handlers as Record<string, unknown>)[method.localName]
    calls[method.localName] = callOf(method, handler as AnyHandler)
  }
  return calls as Client<S>
}

type Init = Record<string, unknown>
type AnyHandler = (request: unknown, context: CallContext) => unknown

function callOf(method: DescMethod, handler: AnyHandler): unknown {
  if (method.methodKind === 'unary') {
    return async (request: Init, context: CallContext) => {
      try {
        const call = new TimedCall(context)
        const result = handler(create(method.input, request), call)
        return create(method.output, (isPromise(result) ? await call.within(result) : result) as Init)
      } catch (thrown) {
        throw asFailure(thrown)
      }
    }
  }
  if (method.methodKind === 'server_streaming') {
    return (request: Init, context: CallContext) =>
      messages(method.output, () => handler(create(method.input, request), context), context.signal)
  }
  const sent = (requests: AsyncIterable<Init>, { signal }: CallContext) =>
    messages(method.input, () => requests, signal)
  if (method.methodKind === 'client_streaming') {
    return async (requests: AsyncIterable<Init>, context: CallContext) => {
      try {
        return create(method.output, (await handler(sent(requests, context), context)) as Init)
      } catch (thrown) {
        throw asFailure(thrown)
      }
    }
  }
  return (requests: AsyncIterable<Init>, context: CallContext) =>
    messages(method.output, () => handler(sent(requests, context), context), context.signal)
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | undefined)?.then === 'function'
}

/** The messages of a stream, until it ends or the call does: who waits for the next one is not left waiting. */
async function* messages(type: DescMethod['input'], open: () => unknown, signal: AbortSignal): AsyncIterable<Init> {
  if (signal.aborted) throw endOf(signal)
  let refuse: ((reason: unknown) => void) | undefined
  const end = () => refuse?.(endOf(signal))
  signal.addEventListener('abort', end, { once: true })
  let source: AsyncIterator<Init> | undefined
  // Not a race with one promise for the whole stream: that would keep something for each message.
  const next = (from: AsyncIterator<Init>) =>
    new Promise<IteratorResult<Init>>((resolve, reject) => {
      refuse = reject
      from.next().then(resolve, reject)
    })
  try {
    source = (open() as AsyncIterable<Init>)[Symbol.asyncIterator]()
    while (!signal.aborted) {
      const { done, value } = await next(source)
      if (done) return
      yield create(type, value as Init)
    }
    throw endOf(signal)
  } catch (thrown) {
    throw asFailure(thrown)
  } finally {
    signal.removeEventListener('abort', end)
    // Not awaited: a source that waits for something of its own ends when that comes.
    source?.return?.()?.catch(() => undefined)
  }
}

/** Where a part finds the others: in the same process or over the wire, it cannot tell. */
export interface Neighbours {
  /**
   * A client of a service, in the cell of the team that calls, at whichever replica. `connection` names a connection of its
   * own, apart from the others.
   */
  client<S extends DescService>(service: S, connection?: string): Client<S>
  /** A client for each cell by its name, '' for the first: of what is of no team. */
  inCells<S extends DescService>(service: S): ReadonlyMap<string, Client<S>>
  /** Addresses of the replicas of a service as they are known now; they come and go. In one process there is only the one. */
  replicas(service: DescService): readonly string[]
  /** A client of the replica at this address. */
  at<S extends DescService>(service: S, address: string, connection?: string): Client<S>
}

/** Neighbours that live in this process. Parts may be added after clients were handed out. */
export class InProcessNetwork implements Neighbours {
  readonly #handlers = new Map<string, Handlers<DescService>>()
  readonly #tracer: Tracer | undefined

  /** `tracer` makes spans of calls. */
  constructor(tracer?: Tracer) {
    this.#tracer = tracer
  }

  add(services: ServedService[]): void {
    for (const { service, handlers } of services) this.#handlers.set(service.typeName, handlers)
  }

  client<S extends DescService>(service: S): Client<S> {
    let connected: Record<string, unknown> | undefined
    const late: Record<string, unknown> = {}
    for (const method of service.methods) {
      late[method.localName] = (request: never, context: never) => {
        connected ??= this.#connect(service)
        return (connected[method.localName] as (request: never, context: never) => unknown)(request, context)
      }
    }
    return late as Client<S>
  }

  inCells<S extends DescService>(service: S): ReadonlyMap<string, Client<S>> {
    return new Map([['', this.client(service)]])
  }

  replicas(): readonly string[] {
    return ['']
  }

  at<S extends DescService>(service: S): Client<S> {
    return this.client(service)
  }

  #connect(service: DescService): Record<string, unknown> {
    const handlers = this.#handlers.get(service.typeName)
    if (handlers === undefined)
      throw new Failure('unimplemented', 'service_absent', 'This service is not part of the system', {
        cause: service.typeName,
      })
    return inProcess(service, traced(service, handlers, this.#tracer, 'internal')) as Record<string, unknown>
  }
}
