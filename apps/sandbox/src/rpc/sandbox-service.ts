import type { SandboxService } from '@automation/contract/sandbox/v1/sandbox'
import type { SecretBox } from '@automation/database'
import { memberIn, type Handlers } from '@automation/rpc'
import { sandboxMessage } from '../sandbox-message.ts'
import type { Sandboxes } from '../sandboxes.ts'
import { listSandboxes } from '../store/reads.ts'
import type { Store } from '../store/store.ts'
import { checkedTimeout } from '../wish.ts'

export function sandboxService(sandboxes: Sandboxes, store: Store, box: SecretBox): Handlers<typeof SandboxService> {
  return {
    async createSandbox(request, context) {
      return sandboxMessage(await sandboxes.create(memberIn(context), request), box)
    },

    async getSandbox({ id }, context) {
      return sandboxMessage(await sandboxes.get(memberIn(context).team, id), box)
    },

    async listSandboxes({ page }, context) {
      const limit = Math.min(Math.max(page?.limit || 10, 1), 1000)
      const offset = (page?.page ?? 0) * limit
      const { rows, total, hasNextPage } = await listSandboxes(store, memberIn(context).team, { limit, offset })
      return { sandboxes: rows.map((row) => sandboxMessage(row, box)), page: { total, hasNextPage } }
    },

    async updateSandbox({ id, timeoutMs }, context) {
      return sandboxMessage(await sandboxes.update(memberIn(context), id, checkedTimeout(timeoutMs)), box)
    },

    async killSandbox({ id }, context) {
      return sandboxMessage(await sandboxes.kill(memberIn(context), id), box)
    },
  }
}
