import type { SandboxRouteService } from '@automation/contract/sandbox/v1/sandbox'
import { principalIn, type Handlers } from '@automation/rpc'
import type { Routes } from '../routes.ts'

/** Where the ports of sandboxes are, for the gateway. */
export function routeService(routes: Routes): Handlers<typeof SandboxRouteService> {
  return {
    resolvePort({ sandboxId, port }, context) {
      principalIn(context, 'service')
      return routes.byPort(sandboxId.toLowerCase(), port)
    },

    resolveKey({ grpcApiKey }, context) {
      principalIn(context, 'service')
      return routes.byKey(grpcApiKey)
    },
  }
}
