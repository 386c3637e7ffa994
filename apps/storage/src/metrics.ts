import type { Registry } from '@automation/service'
import { Counter } from 'prom-client'

export interface PackageSetMetrics {
  /** A set of so many bytes is there no more. */
  removed(why: 'unused' | 'damaged', bytes: number): void
}

/** Sets of packages that storage gave up. */
export function packageSetMetrics(registry: Registry): PackageSetMetrics {
  const labelNames = ['why'] as const
  const registers = [registry]
  const sets = new Counter({
    name: 'storage_package_sets_removed_total',
    help: 'Sets of packages that were removed: nothing referred to them, or they were damaged',
    labelNames,
    registers,
  })
  const bytes = new Counter({
    name: 'storage_package_set_bytes_removed_total',
    help: 'Packed bytes of sets that were removed',
    labelNames,
    registers,
  })
  return {
    removed(why, size) {
      sets.inc({ why })
      bytes.inc({ why }, size)
    },
  }
}
