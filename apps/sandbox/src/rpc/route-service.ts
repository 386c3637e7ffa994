import type { SandboxRouteService } from '@automation/contract/sandbox/v1/sandbox'
import type { Handlers } from '@automation/rpc'
import type { Routes } from '../routes.ts'
import { serviceOnly } from './callers.ts'

export function routeService(routes: Routes): Handlers<typeof SandboxRouteService> {
  return {
    resolvePort({ sandboxId, port }, context) {
      serviceOnly(context)
      return routes.byPort(sandboxId.toLowerCase(), port)
    },

    resolveKey({ grpcApiKey }, context) {
      serviceOnly(context)
      return routes.byKey(grpcApiKey)
    },
  }
}
