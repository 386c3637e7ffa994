import type { Result } from '@automation/contract/runner/v1/runner'
import type { Candidate } from '@automation/jail'
import type { Registry } from '@automation/service'
import { Gauge, Histogram, Counter } from 'prom-client'
import type { Tracer } from '@automation/tracing'
import type { Child, ChildState } from './children/child.ts'
import { memoryOf } from './children/retirement.ts'
import type { ActiveRun } from './runs/active-run.ts'

export interface Metrics {
  /** A run is over; without a result it was ended because nobody asks for it. */
  ended(run: ActiveRun, result: Result | undefined): void
}

/** What is looked at when metrics are asked for. */
export interface Measured {
  isolation: Candidate
  slots: number
  running(): number
  keptResults(): number
  connected(): number
  children(): Iterable<Child>
}

const buckets = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300, 3600]
const states: ChildState[] = ['starting', 'spare', 'idle', 'running', 'checking', 'ending']

/** Slots, children and run durations of a runner. */
export function runnerMetrics(registry: Registry, measured: Measured): Metrics {
  const registers = [registry]
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value())
      },
    })
  gauge('runner_slots', 'Runs that this runner takes at once', () => measured.slots)
  gauge('runner_runs', 'Runs that are on', measured.running)
  gauge('runner_kept_results', 'Results that no replica has stored yet', measured.keptResults)
  gauge('runner_connected_replicas', 'Replicas of execution with a stream', measured.connected)
  const bytes = () => memoryOf(measured.children()) * 1024 * 1024
  gauge('runner_children_memory_bytes', 'What child processes hold, as last measured', bytes)
  new Gauge({
    name: 'runner_children',
    help: 'Child processes by state',
    labelNames: ['state'],
    registers,
    collect() {
      const counts = new Map(states.map((state) => [state, 0]))
      for (const { state } of measured.children()) counts.set(state, (counts.get(state) ?? 0) + 1)
      for (const [state, count] of counts) this.set({ state }, count)
    },
  })
  new Gauge({
    name: 'runner_python_imports',
    help: 'Python children whose versions import packages, by whether their runs share that, or why not',
    labelNames: ['how'],
    registers,
    collect() {
      this.reset()
      for (const { imports: how } of measured.children()) if (how !== undefined) this.inc({ how })
    },
  })
  const { level, network } = measured.isolation
  const labelNames = ['level', 'network']
  new Gauge({ name: 'runner_isolation', help: 'The isolation level of process code', labelNames, registers }).set(
    { level, network },
    1,
  )
  const durations = new Histogram({
    name: 'runner_run_seconds',
    help: 'From assignment to the end of a run',
    labelNames: ['end'],
    buckets,
    registers,
  })
  return {
    ended(run, result) {
      const end = result === undefined ? 'discarded' : (result.end.case ?? 'failed')
      durations.observe({ end }, (performance.now() - run.assignedAt) / 1000)
    },
  }
}

/** Beside counting it, makes a span of each run that belongs to a trace, from its assignment to its result. */
export function tracedEnds(metrics: Metrics, tracer: Tracer | undefined): Metrics {
  if (tracer === undefined) return metrics
  return {
    ended(run, result) {
      metrics.ended(run, result)
      trace(tracer, run, result)
    },
  }
}

function trace(tracer: Tracer, { run, assignedAt }: ActiveRun, result: Result | undefined): void {
  const { traceparent: parent, executionId } = run
  if (parent === undefined) return
  const startMs = Date.now() - (performance.now() - assignedAt)
  const isFailed = result?.end.case === 'failed'
  const attributes = { 'automation.execution.id': executionId }
  const span = tracer.start('code', { kind: 'internal', parent, startMs, attributes })
  span.end({ failure: isFailed ? 'failed' : undefined, isFault: isFailed })
}

export interface SetMetrics {
  /** `packedBytes` went to or came from the object store. */
  count(how: 'fetched' | 'installed' | 'shared' | 'refused', packedBytes?: number): void
}

/** How this runner came to its sets of packages. */
export function setMetrics(registry: Registry): SetMetrics {
  const labelNames = ['how'] as const
  const registers = [registry]
  const sets = new Counter({
    name: 'runner_package_sets_total',
    help: 'Sets of packages that were fetched, installed, shared, or refused because they were damaged',
    labelNames,
    registers,
  })
  const bytes = new Counter({
    name: 'runner_package_set_bytes_total',
    help: 'Packed bytes of sets that were fetched or shared',
    labelNames,
    registers,
  })
  return {
    count(how, packedBytes) {
      sets.inc({ how })
      if (packedBytes !== undefined) bytes.inc({ how }, packedBytes)
    },
  }
}
