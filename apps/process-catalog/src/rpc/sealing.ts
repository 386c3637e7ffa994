import type { SealingService } from '@automation/contract/catalog/v1/sealing'
import type { Resealing } from '@automation/database'
import { principalIn, type Handlers } from '@automation/rpc'

/** Secrets of the catalog, sealed anew for an operator. */
export function sealingHandlers(resealing: Resealing): Handlers<typeof SealingService> {
  return {
    async reseal({ limit }, context) {
      principalIn(context, 'operator')
      return await resealing.answer(limit, context.signal)
    },
  }
}
