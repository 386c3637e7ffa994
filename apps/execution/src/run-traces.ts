import { Status } from '@automation/contract/execution/v1/execution'
import { readTraceparent, traceparentOf, type Span, type SpanEnd, type Tracer } from '@automation/tracing'
import { createdAtMs } from './execution-id.ts'

/** A run with the trace of who started it. */
interface TracedRun {
  id: string
  team: string
  traceparent?: string | null
}

/**
 * The spans of runs. A run's own has an id that follows from the run's, so that whoever begins, runs or ends it knows it:
 * its row needs nothing but the trace of who started it. Runs without that have no spans.
 */
export class RunTraces {
  readonly #tracer: Tracer | undefined

  constructor(tracer: Tracer | undefined) {
    this.#tracer = tracer
  }

  get areMade(): boolean {
    return this.#tracer !== undefined
  }

  /** The trace context that a run's code sees: its own, or, where no spans are made, that of who started it. */
  contextOf({ id, traceparent }: Pick<TracedRun, 'id' | 'traceparent'>): string | undefined {
    const context = readTraceparent(traceparent ?? undefined)
    if (context === undefined || this.#tracer === undefined) return traceparent ?? undefined
    return traceparentOf({ ...context, spanId: spanIdOf(id) })
  }

  /** It is assigned to a runner now: until here it has waited. */
  begun(run: TracedRun & { pool: string }): void {
    const parent = this.contextOf(run)
    if (this.#tracer === undefined || parent === undefined) return
    const attributes = { ...attributesOf(run), 'automation.pool': run.pool }
    this.#tracer.start('queue', { kind: 'internal', parent, startMs: createdAtMs(run.id), attributes }).end()
  }

  /** The receiver of its callback is told now. The span is that of the try; undefined where there is none. */
  callback(run: TracedRun, tries: number): Span | undefined {
    const parent = this.contextOf(run)
    if (this.#tracer === undefined || parent === undefined) return undefined
    const attributes = { ...attributesOf(run), 'automation.callback.try': tries }
    return this.#tracer.start('callback', { kind: 'client', parent, attributes })
  }

  ended(run: TracedRun, status: Status): void {
    const { id, traceparent } = run
    if (this.#tracer === undefined || traceparent === null || traceparent === undefined) return
    const given = { parent: traceparent, spanId: spanIdOf(id), startMs: createdAtMs(id), attributes: attributesOf(run) }
    const end: SpanEnd = { attributes: { 'automation.execution.status': Status[status] } }
    if (status === Status.ERROR) Object.assign(end, { failure: 'ERROR', isFault: true })
    this.#tracer.start('run', { kind: 'internal', ...given }).end(end)
  }
}

/** The random half of a UUID of version 7; its variant keeps it from being zero. */
function spanIdOf(id: string): string {
  return id.replaceAll('-', '').slice(16)
}

function attributesOf({ id, team }: TracedRun) {
  return { 'automation.execution.id': id, 'automation.team': team }
}
