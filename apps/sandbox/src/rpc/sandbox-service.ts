import type { SandboxService } from '@automation/contract/sandbox/v1/sandbox'
import type { SecretBox } from '@automation/database'
import { memberIn, pageInfo, windowOf, type Handlers } from '@automation/rpc'
import { sandboxMessage } from '../sandbox-message.ts'
import type { Sandboxes } from '../sandboxes.ts'
import { listSandboxes } from '../store/reads.ts'
import type { Store } from '../store/store.ts'
import { checkedTimeout } from '../wish.ts'

/** Sandboxes of teams. */
export function sandboxService(sandboxes: Sandboxes, store: Store, box: SecretBox): Handlers<typeof SandboxService> {
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
  }
}
