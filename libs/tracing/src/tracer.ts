export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer'

type Attributes = Record<string, string | number | boolean | undefined>

export interface SpanOptions {
  kind: SpanKind
  /** The traceparent that it continues; absent: it begins a trace. */
  parent?: string
  /** Never a secret, and nothing that users write but names. */
  attributes?: Attributes
  /** Unix time in ms; now. */
  startMs?: number
  /** 16 hexadecimal digits; random. */
  spanId?: string
}

export interface SpanEnd {
  /** What is known of it only now. */
  name?: string
  attributes?: Attributes
  /** The code of the failure that it ended with. */
  failure?: string
  /** Whether the failure is a fault of the service, not the caller's. */
  isFault?: boolean
  /** Unix time in ms; now. */
  endMs?: number
}

export interface Span {
  /** For what is done within it. */
  readonly traceparent: string
  end(how?: SpanEnd): void
}

/** Makes spans and sends them to a receiver. Parts are given none where no receiver is set. */
export interface Tracer {
  start(name: string, options: SpanOptions): Span
  /** Sends what is left. */
  close(): Promise<void>
}

const form = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

/** The position in a trace, as W3C writes it in `traceparent`: 32 and 16 hexadecimal digits, and the flags. */
interface TraceContext {
  traceId: string
  spanId: string
  flags: number
}

/** Undefined for what has another form. */
export function readTraceparent(text: string | undefined): TraceContext | undefined {
  const [, traceId, spanId, flags] = (text === undefined ? null : form.exec(text)) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}

/** As the header `traceparent` has it (W3C Trace Context). */
export function traceparentOf({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`
}
