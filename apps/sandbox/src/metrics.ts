import { SandboxStatus } from '@automation/contract/sandbox/v1/sandbox'
import type { Registry } from '@automation/service'
import { Counter, Gauge } from 'prom-client'
import type { Driver } from './drivers/driver.ts'
import type { StartOutcome } from './reconciler.ts'
import { countActive } from './store/reads.ts'
import type { Store } from './store/store.ts'

const statuses = { starting: SandboxStatus.PENDING, running: SandboxStatus.RUNNING }

/** Sandboxes by their rows, and as the driver has them. Gives what measures them, and what takes how many are held. */
export function sandboxMetrics(registry: Registry, store: Store, driver: Driver) {
  const registers = [registry]
  const held = new Gauge({
    name: 'sandbox_held',
    help: 'Sandboxes that the driver has, with those that are starting',
    labelNames: ['driver'],
    registers,
  })
  const active = new Gauge({
    name: 'sandbox_active',
    help: 'Sandboxes that have not ended, over all replicas',
    labelNames: ['status'],
    registers,
  })
  const oldest = new Gauge({
    name: 'sandbox_starting_oldest_seconds',
    help: 'Seconds since the oldest sandbox that is starting was asked for',
    registers,
  })
  const starts = new Counter({
    name: 'sandbox_starts_total',
    help: 'Sandboxes that have started, and that could not be',
    labelNames: ['outcome'],
    registers,
  })
  new Gauge({
    name: 'sandbox_spares',
    help: 'Sandboxes of an image that are ready before they are asked for, and how many are wanted',
    labelNames: ['image', 'state'],
    registers,
    collect() {
      this.reset()
      for (const { image, ready, wanted } of driver.spares?.() ?? []) {
        this.set({ image, state: 'ready' }, ready)
        this.set({ image, state: 'wanted' }, wanted)
      }
    },
  })
  return {
    counted: (outcome: StartOutcome, count: number) => starts.inc({ outcome }, count),
    held: (count: number) => held.set({ driver: driver.name }, count),
    async measure(): Promise<void> {
      const counts = new Map((await countActive(store)).map((row) => [row.status, row]))
      for (const [name, status] of Object.entries(statuses))
        active.set({ status: name }, counts.get(status)?.count ?? 0)
      oldest.set((counts.get(statuses.starting)?.oldestMs ?? 0) / 1000)
    },
  }
}
