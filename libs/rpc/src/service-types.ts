import type { DescMethod, DescService, MessageInitShape, MessageShape } from '@bufbuild/protobuf'
import type { CallContext } from './context.ts'

type Awaitable<T> = T | Promise<T>

type Handler<M extends DescMethod> = M extends { methodKind: 'unary' }
  ? (request: MessageShape<M['input']>, context: CallContext) => Awaitable<MessageInitShape<M['output']>>
  : M extends { methodKind: 'server_streaming' }
    ? (request: MessageShape<M['input']>, context: CallContext) => AsyncIterable<MessageInitShape<M['output']>>
    : M extends { methodKind: 'bidi_streaming' }
      ? (
          requests: AsyncIterable<MessageShape<M['input']>>,
          context: CallContext,
        ) => AsyncIterable<MessageInitShape<M['output']>>
      : (
          requests: AsyncIterable<MessageShape<M['input']>>,
          context: CallContext,
        ) => Awaitable<MessageInitShape<M['output']>>

type Call<M extends DescMethod> = M extends { methodKind: 'unary' }
  ? (request: MessageInitShape<M['input']>, context: CallContext) => Promise<MessageShape<M['output']>>
  : M extends { methodKind: 'server_streaming' }
    ? (request: MessageInitShape<M['input']>, context: CallContext) => AsyncIterable<MessageShape<M['output']>>
    : M extends { methodKind: 'bidi_streaming' }
      ? (
          requests: AsyncIterable<MessageInitShape<M['input']>>,
          context: CallContext,
        ) => AsyncIterable<MessageShape<M['output']>>
      : (
          requests: AsyncIterable<MessageInitShape<M['input']>>,
          context: CallContext,
        ) => Promise<MessageShape<M['output']>>

/** What implements a proto service: one function per method, typed by the generated descriptor. */
export type Handlers<S extends DescService> = { [K in keyof S['method']]: Handler<S['method'][K]> }

/** What calls a proto service; the wire is one way to fill it, the same process another. Failures are thrown as Failure. */
export type Client<S extends DescService> = { [K in keyof S['method']]: Call<S['method'][K]> }

/** A service with its implementation, as a part offers it to `serve` and to `inProcess`. */
export interface ServedService<S extends DescService = DescService> {
  service: S
  handlers: Handlers<S>
  /** How much of a caller's stream may wait for its handler; 256 KiB. */
  waitingBytes?: number
}

/** Pairs a service with its handlers; the compiler says what is missing. */
export function served<S extends DescService>(
  service: S,
  handlers: Handlers<S>,
  waitingBytes?: number,
): ServedService<S> {
  return { service, handlers, waitingBytes }
}
