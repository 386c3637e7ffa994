import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'

/** The metrics of one process: memory, CPU, event loop and garbage collection, and what its parts add. */
export function createMetrics(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}

/** Counts the gRPC calls of other processes that are open here, by service and method. */
export function openCalls(registry: Registry): (service: string, method: string) => { inc(): void; dec(): void } {
  const gauge = new Gauge({
    name: 'grpc_calls_open',
    help: 'Calls of other processes that are not answered yet, and streams that are open',
    labelNames: ['service', 'method'],
    registers: [registry],
  })
  return (service, method) => gauge.labels({ service, method })
}
