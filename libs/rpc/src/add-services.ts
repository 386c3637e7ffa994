import type { Server } from '@grpc/grpc-js'
import { serviceDefinition } from './definition.ts'
import type { Tracer } from '@automation/tracing'
import { handling, type Verify, type WireLogger } from './handling.ts'
import type { ServedService } from './service-types.ts'
import { traced } from './traced.ts'

/** Adds what implements the services; each call is verified first. */
export function addServices(
  server: Server,
  services: ServedService[],
  verify: Verify,
  { logger, tracer }: { logger: WireLogger; tracer?: Tracer },
): void {
  for (const { service, handlers, waitingBytes } of services) {
    const byName = traced(service, handlers, tracer, 'server') as Record<string, Parameters<typeof handling>[1]>
    const calls = service.methods.map((method) => [
      method.localName,
      handling(method, byName[method.localName]!, verify, logger, waitingBytes),
    ])
    server.addService(serviceDefinition(service), Object.fromEntries(calls))
  }
}
