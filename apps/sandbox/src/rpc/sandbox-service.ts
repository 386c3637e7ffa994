import type { SandboxRouteService, SandboxService } from '@automation/contract/sandbox/v1/sandbox'
import { pageInfo, windowOf, type SecretBox } from '@automation/database'
import { memberIn, principalIn, type Handlers } from '@automation/rpc'
import type { SandboxConfig } from '../config.ts'
import type { Routes } from '../traffic-routes.ts'
import { sandboxMessage } from '../sandbox-message.ts'
import { checkedTimeout } from '../sandbox-request.ts'
import type { Sandboxes } from '../sandboxes.ts'
import { countOfTeam, listSandboxes } from '../store/reads.ts'
import type { Store } from '../store/store.ts'

interface SandboxServiceParts {
  sandboxes: Sandboxes
  store: Store
  box: SecretBox
  config: Pick<SandboxConfig, 'catalogue'>
  maxOf: (team: string) => number
}

/** Sandboxes of teams. */
export function sandboxService({
  sandboxes,
  store,
  box,
  config,
  maxOf,
}: SandboxServiceParts): Handlers<typeof SandboxService> {
  return {
    async createSandbox(request, context) {
      return sandboxMessage(await sandboxes.create(memberIn(context), request), box)
    },

    async getSandbox({ id }, context) {
      return sandboxMessage(await sandboxes.get(memberIn(context).team, id), box)
    },

    async listSandboxes({ page }, context) {
      const window = windowOf(page)
      const { rows, total } = await listSandboxes(store, memberIn(context).team, window)
      return { sandboxes: rows.map((row) => sandboxMessage(row, box)), page: pageInfo(window, total, rows.length) }
    },

    async updateSandbox({ id, timeoutMs }, context) {
      return sandboxMessage(await sandboxes.update(memberIn(context), id, checkedTimeout(timeoutMs)), box)
    },

    async killSandbox({ id }, context) {
      return sandboxMessage(await sandboxes.kill(memberIn(context), id), box)
    },

    async listImages(_, context) {
      memberIn(context)
      return { images: config.catalogue.images.map(({ id, cpus, memoryMb }) => ({ id, cpus, memoryMb })) }
    },

    async getLimits(_, context) {
      const { team } = memberIn(context)
      const inUse = BigInt(await countOfTeam(store, team))
      return { limits: [{ name: 'sandboxes', allowed: BigInt(maxOf(team)), inUse }] }
    },
  }
}

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
