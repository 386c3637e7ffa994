import type { Server } from '@grpc/grpc-js'
import { serviceDefinition } from './definition.ts'
import type { Tracer } from '@automation/tracing'
import { handling, type OpenCalls, type Verify, type WireLogger } from './handling.ts'
import type { ServedService } from './service-types.ts'
import { traced } from './traced.ts'

/** What counts the calls of a method that are open, by the names of service and method. */
export type CountOpenCalls = (service: string, method: string) => OpenCalls

/** Adds what implements the services; each call is verified first. */
export function addServices(
  server: Server,
  services: ServedService[],
  verify: Verify,
  { logger, tracer, openCalls }: { logger: WireLogger; tracer?: Tracer; openCalls?: CountOpenCalls },
): void {
  for (const { service, handlers, waitingBytes } of services) {
    const byName = traced(service, handlers, tracer, 'server') as Record<string, Parameters<typeof handling>[1]>
    const calls = service.methods.map((method) => [
      method.localName,
      handling(method, byName[method.localName]!, {
        verify,
        logger,
        waitingBytes,
        open: openCalls?.(service.typeName, method.name),
      }),
    ])
    server.addService(serviceDefinition(service), Object.fromEntries(calls))
  }
}
