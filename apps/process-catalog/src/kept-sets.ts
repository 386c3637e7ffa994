import { PackageSetService } from '@automation/contract/storage/v1/package_set'
import { Failure } from '@automation/errors'
import { asService, ownContext, type Neighbours } from '@automation/rpc'
import type { Logger } from '@automation/service'
import { setsInUse } from './store/sets-in-use.ts'
import type { Store } from './store/store.ts'

const pageSize = 500
const timeoutMs = 20_000

/** Tells storage which sets of packages manifests refer to; what it is not told of for long, it removes. */
export function keptSets(store: Store, neighbours: Neighbours, logger: Logger): () => Promise<void> {
  const sets = neighbours.client(PackageSetService)
  return async () => {
    try {
      await sets.keepSets(pages(store), ownContext(asService('process-catalog'), timeoutMs))
    } catch (error) {
      // A system without an object store has no storage.
      if (!(error instanceof Failure && (error.kind === 'unavailable' || error.kind === 'unimplemented'))) throw error
      logger.debug({ err: error }, 'storage is not told of sets of packages')
    }
  }
}

async function* pages(store: Store) {
  for (let after = ''; ;) {
    const rows = await setsInUse(store, after, pageSize)
    const sets = rows.flatMap(({ team, keys }) => keys.map((key) => ({ team, key })))
    const isLast = rows.length < pageSize
    yield { sets, isLast }
    if (isLast) return
    after = rows.at(-1)!.id
  }
}
