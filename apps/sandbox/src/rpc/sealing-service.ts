import type { SealingService } from '@automation/contract/sandbox/v1/sealing'
import type { Resealing } from '@automation/database'
import { principalIn, type Handlers } from '@automation/rpc'

/** Secrets of sandboxes, sealed anew for an operator. */
export function sealingService(resealing: Resealing): Handlers<typeof SealingService> {
  return {
    async reseal({ limit }, context) {
      principalIn(context, 'operator')
      return await resealing.answer(limit, context.signal)
    },
  }
}
