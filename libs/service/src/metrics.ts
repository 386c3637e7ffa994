import { collectDefaultMetrics, Registry } from 'prom-client'

/** The metrics of one process: memory, CPU, event loop and garbage collection, and what its parts add. */
export function createMetrics(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}
