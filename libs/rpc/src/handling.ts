import { create, type DescMethod, type Message } from '@bufbuild/protobuf'
import { asFailure, Failure } from '@automation/errors'
import type {
  handleClientStreamingCall,
  Metadata,
  ServerDuplexStream,
  ServerReadableStream,
  ServerWritableStream,
  UntypedHandleCall,
  Server,
} from '@grpc/grpc-js'
import type { Tracer } from '@automation/tracing'
import { type CallContext, cancelled, expired, type Principal } from './context.ts'
import { decoder, encoder, pathOf, serviceDefinition } from './definition.ts'
import { contextOf } from './metadata.ts'
import { received, type Receiving } from './received.ts'
import { send } from './sent.ts'
import { notBelievedCode, statusFromFailure } from './status.ts'
import { unreachable } from './unreached.ts'
import type { UnaryCall, UnaryHandler } from './call-stream-server.ts'
import type { ServedService } from './service-types.ts'
import { traced } from './traced.ts'

/** A call's deadline begins anew where it arrives, so its caller gives it up this much before we do. */
const transitMs = 100

/** Says who calls a method, by what came beside the message; throws `unauthenticated` for anybody else. */
export type Verify = (metadata: Metadata, method: DescMethod) => Principal | Promise<Principal>

/** Counts calls of one method that are open. */
export interface OpenCalls {
  inc(): void
  dec(): void
}

interface HandlingOptions {
  verify: Verify
  logger: WireLogger
  waitingBytes?: number
  open?: OpenCalls
}

/** The part of a logger that the wire needs. */
export interface WireLogger {
  error(fields: object, text: string): void
  warn(fields: object, text: string): void
  info(fields: object, text: string): void
}

type UnaryArguments = Parameters<UnaryHandler>
type ClientStreamingArguments = Parameters<handleClientStreamingCall<Buffer, Buffer>>
type Handler = (request: unknown, context: CallContext) => unknown
type Init = Record<string, unknown>
type Call = UnaryCall | ServerReadableStream<Buffer, Buffer> | ServerStream
type ServerStream = ServerWritableStream<Buffer, Buffer> | ServerDuplexStream<Buffer, Buffer>

/** What is called for a method: checks who asks, makes the context, runs the handler, answers with its failure if any. */
function handling(
  method: DescMethod,
  handler: Handler,
  { verify, logger, waitingBytes, open }: HandlingOptions,
): UntypedHandleCall {
  const decode = decoder(method.input)
  const encode = encoder(method.output)
  const answerOf = (answer: unknown) => encode(create(method.output, answer as Init))
  const receiving: Receiving<Message> = {
    decode,
    malformed: 'invalid_argument',
    failureOf: cancelled,
    waitingBytes,
  }
  const refusals = new WeakSet<Error>()
  const begin = async (call: Call): Promise<CallContext> => {
    let principal: Principal
    try {
      principal = await verify(call.metadata, method)
    } catch (thrown) {
      if (thrown instanceof Failure) refusals.add(thrown)
      throw thrown
    }
    const context = contextOf(call.metadata, principal, call.getDeadline(), lazySignal(call))
    if (context.deadlineMs !== undefined && context.deadlineMs <= Date.now()) throw expired()
    return context
  }
  const failed = (thrown: unknown, metadata: Metadata) => {
    const told = asFailure(thrown)
    // What the handler calls has not believed us: that is no fault of the caller's, and something may have been done.
    const isOurs = told.code === notBelievedCode && !refusals.has(told)
    const failure = isOurs ? unreachable(told) : told
    note(failure, method, metadata, logger)
    return statusFromFailure(failure)
  }
  if (method.methodKind === 'unary') return (...call: UnaryArguments) => counted(unary(...call))
  if (method.methodKind === 'client_streaming')
    return (...call: ClientStreamingArguments) => counted(clientStream(...call))
  return (call: ServerStream) => counted(stream(call))

  function counted(answered: Promise<void>): void {
    if (open === undefined) return
    open.inc()
    void answered.finally(() => open.dec())
  }

  async function unary(...[call, callback]: UnaryArguments): Promise<void> {
    try {
      const context = await begin(call)
      callback(null, answerOf(await handler(decode(call.request), context)))
    } catch (thrown) {
      callback(failed(thrown, call.metadata))
    }
  }

  async function clientStream(...[call, callback]: ClientStreamingArguments): Promise<void> {
    try {
      const requests = received(call, receiving)
      const context = await begin(call)
      callback(null, answerOf(await handler(requests, context)))
    } catch (thrown) {
      callback(failed(thrown, call.metadata))
    }
  }

  async function stream(call: ServerStream): Promise<void> {
    try {
      // Taken up at once, as messages may be there before the caller is verified.
      const requests = 'request' in call ? decode(call.request) : received(call, receiving)
      const context = await begin(call)
      await send(method.output, handler(requests, context) as AsyncIterable<Init>, call)
      call.end()
    } catch (thrown) {
      if (!call.cancelled) call.emit('error', failed(thrown, call.metadata))
    }
  }
}

function lazySignal(call: Call): () => AbortSignal {
  let controller: AbortController | undefined
  return () => {
    if (controller !== undefined) return controller.signal
    const made = (controller = new AbortController())
    const abort = () => made.abort(Number(call.getDeadline()) - transitMs <= Date.now() ? expired() : cancelled())
    if (call.cancelled) abort()
    else (call as ServerStream).once('cancelled', abort)
    return made.signal
  }
}

/** A cause never crosses, so what went wrong inside is told here. */
function note(failure: Failure, method: DescMethod, metadata: Metadata, logger: WireLogger): void {
  if (failure.cause === undefined || (failure.kind !== 'internal' && failure.kind !== 'unavailable')) return
  const fields = { err: failure.cause, method: `${method.parent.typeName}/${method.name}`, code: failure.code }
  const requestId = metadata.get('x-request-id')[0]
  if (failure.kind === 'internal') logger.error({ ...fields, requestId }, 'a call failed')
  else logger.warn({ ...fields, requestId }, 'a call failed for now')
}

/** What counts the calls of a method that are open, by the names of service and method. */
export type CountOpenCalls = (service: string, method: string) => OpenCalls

/** Adds what implements the services; each call is verified first. Gives the unary ones by their paths. */
export function addServices(
  server: Server,
  services: ServedService[],
  verify: Verify,
  { logger, tracer, openCalls }: { logger: WireLogger; tracer?: Tracer; openCalls?: CountOpenCalls },
): Map<string, UnaryHandler> {
  const unary = new Map<string, UnaryHandler>()
  for (const { service, handlers, waitingBytes } of services) {
    const byName = traced(service, handlers, tracer, 'server') as Record<string, Parameters<typeof handling>[1]>
    const calls = service.methods.map((method) => {
      const open = openCalls?.(service.typeName, method.name)
      const call = handling(method, byName[method.localName]!, { verify, logger, waitingBytes, open })
      if (method.methodKind === 'unary') unary.set(pathOf(method), call as UnaryHandler)
      return [method.localName, call]
    })
    server.addService(serviceDefinition(service), Object.fromEntries(calls))
  }
  return unary
}
