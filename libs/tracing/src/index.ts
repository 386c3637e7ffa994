import type { TracerOptions } from './otlp-tracer.ts'
import type { Tracer } from './tracer.ts'

export type { TracerOptions } from './otlp-tracer.ts'
export type { Attributes, Span, SpanEnd, SpanKind, SpanOptions, Tracer } from './tracer.ts'
export { readTraceparent, traceparentOf, type TracePlace } from './traceparent.ts'

/** Only here is OpenTelemetry loaded. */
export async function openTracer(options: TracerOptions): Promise<Tracer> {
  const { otlpTracer } = await import('./otlp-tracer.ts')
  return otlpTracer(options)
}
