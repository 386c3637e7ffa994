import type { Server } from '@grpc/grpc-js'
import { serviceDefinition } from './definition.ts'
import { handling, type Verify, type WireLogger } from './handling.ts'
import type { ServedService } from './service-types.ts'

/** Adds what implements the services; each call is verified first. */
export function addServices(server: Server, services: ServedService[], verify: Verify, logger: WireLogger): void {
  for (const { service, handlers, waitingBytes } of services) {
    const byName = handlers as Record<string, Parameters<typeof handling>[1]>
    const calls = service.methods.map((method) => [
      method.localName,
      handling(method, byName[method.localName]!, verify, logger, waitingBytes),
    ])
    server.addService(serviceDefinition(service), Object.fromEntries(calls))
  }
}
