import { create, type DescMethod, type DescService } from '@bufbuild/protobuf'
import { asFailure } from '@automation/errors'
import { endOf } from './call-ends.ts'
import type { CallContext } from './context.ts'
import { TimedCall } from './deadlines.ts'
import type { Client, Handlers } from './service-types.ts'

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
