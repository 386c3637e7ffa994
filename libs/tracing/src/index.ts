export type { Attributes, Span, SpanEnd, SpanKind, SpanOptions, Tracer } from './tracer.ts'
export { readTraceparent, traceparentOf, type TracePlace } from './traceparent.ts'
