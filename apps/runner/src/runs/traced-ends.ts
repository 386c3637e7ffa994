import type { Result } from '@automation/contract/runner/v1/runner'
import type { Tracer } from '@automation/tracing'
import type { Metrics } from '../metrics.ts'
import type { ActiveRun } from './active-run.ts'

/** Beside counting it, makes a span of each run that belongs to a trace, from its hand-over to its result. */
export function tracedEnds(metrics: Metrics, tracer: Tracer | undefined): Metrics {
  if (tracer === undefined) return metrics
  return {
    ended(run, result) {
      metrics.ended(run, result)
      trace(tracer, run, result)
    },
  }
}

function trace(tracer: Tracer, { run, handedOverAt }: ActiveRun, result: Result | undefined): void {
  const { traceparent: parent, executionId } = run
  if (parent === undefined) return
  const startMs = Date.now() - (performance.now() - handedOverAt)
  const isFailed = result?.end.case === 'failed'
  const attributes = { 'automation.execution.id': executionId }
  const span = tracer.start('code', { kind: 'internal', parent, startMs, attributes })
  span.end({ failure: isFailed ? 'failed' : undefined, isFault: isFailed })
}
