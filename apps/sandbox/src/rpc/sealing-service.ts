import type { SealingService } from '@automation/contract/sandbox/v1/sealing'
import type { Resealing } from '@automation/database'
import { principalIn, type Handlers } from '@automation/rpc'

const mostAtOnce = 10_000

export function sealingService(resealing: Resealing): Handlers<typeof SealingService> {
  return {
    async reseal({ limit }, context) {
      principalIn(context, 'operator')
      const resealed = await resealing.reseal(Math.min(limit, mostAtOnce), context.signal)
      const secrets = (await resealing.counts()).map(({ kind, total, onOlderKeys, damaged }) => ({
        kind,
        total: BigInt(total),
        onOlderKeys: BigInt(onOlderKeys),
        damaged: BigInt(damaged),
      }))
      return { keyId: resealing.keyId, resealed, secrets }
    },
  }
}
