import type { Registry } from '@automation/service'
import { Gauge } from 'prom-client'
import type { Driver } from './drivers/driver.ts'

/** How many sandboxes a driver holds. */
export function sandboxMetrics(registry: Registry, driver: Driver): void {
  new Gauge({
    name: 'sandbox_held',
    help: 'Sandboxes that the driver holds, those that start included',
    labelNames: ['driver'],
    registers: [registry],
    async collect() {
      this.set({ driver: driver.name }, (await driver.list()).length)
    },
  })
}
