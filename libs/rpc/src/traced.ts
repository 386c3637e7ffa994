import type { DescMethod, DescService } from '@bufbuild/protobuf'
import { asFailure, type FailureKind } from '@automation/errors'
import type { Span, SpanEnd, Tracer } from '@automation/tracing'
import type { CallContext } from './context.ts'

type AnyCall = (request: unknown, context: CallContext) => unknown

const faults = new Set<FailureKind>(['internal', 'unavailable', 'deadline_exceeded', 'unimplemented'])

/**
 * The calls of a client, or the handlers of a service, with a span for each that belongs to a trace; they are given as they
 * are without a tracer. What a part does of its own accord begins no trace, nor do streams that last as long as a connection.
 */
export function traced<C extends object>(
  service: DescService,
  calls: C,
  tracer: Tracer | undefined,
  kind: 'client' | 'server' | 'internal',
): C {
  if (tracer === undefined) return calls
  const all = calls as Record<string, AnyCall>
  const wrapped = service.methods.map((method) => {
    const call = all[method.localName]!
    return [method.localName, method.methodKind === 'bidi_streaming' ? call : tracedCall(method, call, tracer, kind)]
  })
  return Object.fromEntries(wrapped) as C
}

function tracedCall(
  method: DescMethod,
  call: AnyCall,
  tracer: Tracer,
  kind: 'client' | 'server' | 'internal',
): AnyCall {
  const name = `${method.parent.typeName}/${method.name}`
  const attributes = { 'rpc.system': 'grpc', 'rpc.service': method.parent.typeName, 'rpc.method': method.name }
  return (request, context) => {
    const parent = context.traceparent
    if (parent === undefined) return call(request, context)
    const team = context.principal.team || undefined
    const span = tracer.start(name, { kind, parent, attributes: { ...attributes, 'automation.team': team } })
    const within = () => call(request, tracedContext(context, span.traceparent))
    return method.methodKind === 'server_streaming'
      ? streamOf(span, within as () => AsyncIterable<unknown>)
      : answerOf(span, within)
  }
}

async function answerOf(span: Span, call: () => unknown): Promise<unknown> {
  try {
    const answer = await call()
    span.end()
    return answer
  } catch (thrown) {
    span.end(endOf(thrown))
    throw thrown
  }
}

async function* streamOf(span: Span, call: () => AsyncIterable<unknown>): AsyncIterable<unknown> {
  let end: SpanEnd = {}
  try {
    yield* call()
  } catch (thrown) {
    end = endOf(thrown)
    throw thrown
  } finally {
    span.end(end)
  }
}

function endOf(thrown: unknown): SpanEnd {
  const { kind, code } = asFailure(thrown)
  return { failure: code, isFault: faults.has(kind) }
}

/** The same call, further down its trace. An object with all of it, as a handler may copy it. */
function tracedContext(caller: CallContext, traceparent: string): CallContext {
  const { principal, requestId, deadlineMs } = caller
  return {
    principal,
    requestId,
    traceparent,
    deadlineMs,
    // Its caller may make it only when it is looked at.
    get signal() {
      return caller.signal
    },
  }
}
