import type { SealingService } from '@automation/contract/catalog/v1/sealing'
import type { Resealing } from '@automation/database'
import type { Handlers } from '@automation/rpc'
import { operatorOnly } from '../caller.ts'

const mostAtOnce = 10_000

export function sealingHandlers(resealing: Resealing): Handlers<typeof SealingService> {
  return {
    async reseal({ limit }, context) {
      operatorOnly(context)
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
