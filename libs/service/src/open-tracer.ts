import type { Tracer } from '@automation/tracing'
import type { TracerOptions } from './otlp-tracer.ts'

/** Only here is OpenTelemetry loaded. */
export async function openTracer(options: TracerOptions): Promise<Tracer> {
  const { otlpTracer } = await import('./otlp-tracer.ts')
  return otlpTracer(options)
}
