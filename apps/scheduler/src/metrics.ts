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
    help: 'How long after its nominal time a firing has started its run, where it waited for no other run',
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
    help: 'Firings that have come and are not decided, over all replicas',
    registers,
  })
  const oldest = new Gauge({
    name: 'scheduler_firings_oldest_seconds',
    help: 'How long ago the nominal time of the first of these was, those left out that wait for another run',
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
