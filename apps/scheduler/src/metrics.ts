import type { Registry } from '@automation/service'
import { Counter, Gauge, Histogram } from 'prom-client'

export interface Metrics {
  /** A firing has started its run; how late, in seconds, where it waited for no run before it. */
  started(lateS: number | undefined): void
  skipped(reason: string): void
  /** How many firings are not decided, and for how long the first of these is due that waits for no other run, in ms. */
  open(count: number, oldestMs: number): void
}

/** The metrics of the scheduler, in the registry of the process. */
export function schedulerMetrics(registry: Registry): Metrics {
  const registers = [registry]
  const late = new Histogram({
    name: 'scheduler_late_seconds',
    help: 'Time by which a run starts after its schedule says, where it waits for no earlier run',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600],
    registers,
  })
  const firings = new Counter({
    name: 'scheduler_firings_total',
    help: 'Firings by what became of them: started, missed, overlapping, refused, paused',
    labelNames: ['outcome'],
    registers,
  })
  const open = new Gauge({
    name: 'scheduler_firings_open',
    help: 'Firings that have neither started a run nor been skipped, over all replicas',
    registers,
  })
  const oldest = new Gauge({
    name: 'scheduler_firings_oldest_seconds',
    help: 'Seconds since the oldest firing was due that neither started a run nor was skipped; those that wait for an earlier run left out',
    registers,
  })
  return {
    started(lateS) {
      firings.inc({ outcome: 'started' })
      if (lateS !== undefined) late.observe(lateS)
    },
    skipped: (reason) => firings.inc({ outcome: reason }),
    open(count, oldestMs) {
      open.set(count)
      oldest.set(oldestMs / 1000)
    },
  }
}
