import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind as Kind,
  SpanStatusCode,
  trace,
  type Context,
  type Span as SdkSpan,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, RandomIdGenerator, TracerProvider } from '@opentelemetry/sdk-trace'
import {
  readTraceparent,
  traceparentOf,
  type Span,
  type SpanEnd,
  type SpanKind,
  type SpanOptions,
  type Tracer,
} from '@automation/tracing'

export interface TracerOptions {
  /** Where the receiver is; spans go to `<endpoint>/v1/traces`. */
  endpoint: string
  /** Of each request there. */
  headers?: Record<string, string>
  /** The name of the program, as traces show it. */
  service: string
  logger: { warn(fields: object, text: string): void }
  /** How long spans are gathered, in ms; 2,000. */
  delayMs?: number
}

const kinds: Record<SpanKind, Kind> = {
  internal: Kind.INTERNAL,
  server: Kind.SERVER,
  client: Kind.CLIENT,
  producer: Kind.PRODUCER,
  consumer: Kind.CONSUMER,
}
const closeMs = 3000

/** A tracer that sends over OTLP/HTTP. What a receiver that is away does not take is given up. */
export function otlpTracer({ endpoint, headers, service, logger, delayMs = 2000 }: TracerOptions): Tracer {
  logTroubles(logger)
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: 5000 })
  const ids = new ChosenIds()
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'process.pid': process.pid }),
    idGenerator: ids,
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: delayMs, maxQueueSize: 8192 })],
  })
  const sdk = provider.getTracer('process-automation')
  return {
    start(name, options) {
      const { kind, startMs, attributes } = options
      ids.next = options.spanId
      const given = { kind: kinds[kind], startTime: startMs, attributes }
      return spanOf(sdk.startSpan(name, given, contextOf(options)))
    },
    async close() {
      const late = new Promise<void>((resolve) => setTimeout(resolve, closeMs).unref())
      await Promise.race([provider.shutdown(), late])
    },
  }
}

/** Random ids, but for a span that is known by its id before it starts. */
class ChosenIds extends RandomIdGenerator {
  next: string | undefined
  override readonly generateSpanId = (): string => {
    const chosen = this.next ?? random.generateSpanId()
    this.next = undefined
    return chosen
  }
}

const random = new RandomIdGenerator()

function contextOf({ parent }: SpanOptions): Context {
  const context = readTraceparent(parent)
  if (context === undefined) return ROOT_CONTEXT
  const { traceId, spanId, flags } = context
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: flags & 1, isRemote: true })
}

function spanOf(span: SdkSpan): Span {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return {
    traceparent: traceparentOf({ traceId, spanId, flags: traceFlags }),
    end({ name, attributes, failure, isFault = false, endMs }: SpanEnd = {}) {
      if (name !== undefined) span.updateName(name)
      if (attributes !== undefined)
        for (const [key, value] of Object.entries(attributes)) if (value !== undefined) span.setAttribute(key, value)
      if (failure !== undefined) span.setAttribute('error.type', failure)
      if (isFault) span.setStatus({ code: SpanStatusCode.ERROR, message: failure })
      span.end(endMs)
    },
  }
}

/** One that does not reach its receiver says so, at most each minute. */
function logTroubles(logger: TracerOptions['logger']): void {
  let loggedMs = -Infinity
  const log = (text: string) => {
    if (performance.now() - loggedMs < 60_000) return
    loggedMs = performance.now()
    logger.warn({ detail: text.slice(0, 500) }, 'traces could not be sent')
  }
  const nothing = () => undefined
  diag.setLogger(
    { error: log, warn: log, info: nothing, debug: nothing, verbose: nothing },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
}
