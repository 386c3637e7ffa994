import type { Registry } from '@automation/service'
import { Counter, Gauge, Histogram } from 'prom-client'

export interface Metrics {
  /** A firing has started its run; how late, in seconds, where it waited for no run before it. */
  started(lateS: number | undefined): void
  skipped(reason: string): void
}

/** The metrics of the scheduler; `countOpen` gives how many firings are not decided. */
export function schedulerMetrics(registry: Registry, countOpen: () => Promise<number>): Metrics {
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
  new Gauge({
    name: 'scheduler_firings_open',
    help: 'Firings that have come and are not decided, over all replicas',
    registers,
    async collect() {
      this.set(await countOpen())
    },
  })
  return {
    started(lateS) {
      firings.inc({ outcome: 'started' })
      if (lateS !== undefined) late.observe(lateS)
    },
    skipped: (reason) => firings.inc({ outcome: reason }),
  }
}
