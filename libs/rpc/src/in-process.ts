import { create, type DescMethod, type DescService } from '@bufbuild/protobuf'
import { asFailure } from '@automation/errors'
import type { CallContext } from './context.ts'
import type { Client, Handlers } from './service-types.ts'

/** Calls a service of the same process directly: messages by reference, failures as on the wire. */
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
        return create(method.output, (await handler(create(method.input, request), context)) as Init)
      } catch (thrown) {
        throw asFailure(thrown)
      }
    }
  }
  if (method.methodKind === 'server_streaming') {
    return (request: Init, context: CallContext) =>
      messages(method.output, handler(create(method.input, request), context) as AsyncIterable<Init>)
  }
  return (requests: AsyncIterable<Init>, context: CallContext) =>
    messages(method.output, handler(messages(method.input, requests), context) as AsyncIterable<Init>)
}

async function* messages(type: DescMethod['input'], inits: AsyncIterable<Init>): AsyncIterable<Init> {
  try {
    for await (const init of inits) yield create(type, init)
  } catch (thrown) {
    throw asFailure(thrown)
  }
}
