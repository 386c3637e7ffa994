import type { PackageSetService } from '@automation/contract/storage/v1/package_set'
import { principalIn, type Handlers } from '@automation/rpc'
import type { ReadRights } from '../callers.ts'
import type { PackageSets } from '../package-sets.ts'

/** Sets of packages that runners share. */
export function packageSetService(sets: PackageSets, rights: ReadRights): Handlers<typeof PackageSetService> {
  return {
    async uploadSet(requests, context) {
      await sets.take(rights.ownSetOf(context), requests, context.signal)
      return {}
    },

    async *downloadSet({ key, runtime }, context) {
      const team = rights.teamOf(context)
      for await (const chunk of sets.read({ team, key, runtime }, context.signal)) yield { chunk }
    },

    async keepSets(lists, context) {
      principalIn(context, 'service')
      await sets.keep(lists)
      return {}
    },
  }
}
