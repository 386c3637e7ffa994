import type { Registry } from '@automation/service'
import { Counter } from 'prom-client'

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
