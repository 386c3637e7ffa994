import type { ObjectStore } from '@automation/objects'
import { blobKey, type Store } from './store/store.ts'
import { deleteExpiredObject } from './store/objects.ts'
import { deleteExpiredUpload, expiredUploads } from './store/parted-uploads.ts'
import { dueBlobs, expiredObjects, forgetBlob, giveUpUploads, type DueBlob } from './store/sweep.ts'

const batch = 100

interface SweeperOptions {
  store: Store
  objects: ObjectStore
  /** How long what was given up stays, in ms. */
  graceMs: number
}

/** Removes contents that belong to no object any more. Any replica may do it; doing it twice does no harm. */
export class Sweeper {
  readonly #options: SweeperOptions

  constructor(options: SweeperOptions) {
    this.#options = options
  }

  /**
   * Until nothing more can be removed. What fails, as where its team's rows are locked, holds up nothing else; it is thrown
   * behind all.
   */
  async sweep(signal: AbortSignal): Promise<void> {
    const { store, graceMs } = this.#options
    await giveUpUploads(store, graceMs)
    const failures = new Map<string, unknown>()
    const each = async <T>(find: Find<T>, remove: (row: T) => Promise<unknown>) => {
      const due = await find(store, batch + failures.size)
      const rows = due.filter((row) => !failures.has(JSON.stringify(row)))
      let removed = 0
      for (const row of rows) {
        if (signal.aborted) break
        await remove(row).then(
          () => (removed += 1),
          (error: unknown) => failures.set(JSON.stringify(row), error),
        )
      }
      return removed
    }
    for (let removed = 1; removed > 0;) {
      removed = await each(expiredObjects, ({ team, name }) => deleteExpiredObject(store, team, name))
      removed += await each(expiredUploads, (upload) => deleteExpiredUpload(store, upload))
      removed += await each(dueBlobs, (blob) => this.remove(blob))
    }
    for (const failure of failures.values()) throw failure
  }

  /** From the store first: the row says that there is something to be removed. */
  async remove(blob: DueBlob): Promise<void> {
    const { store, objects } = this.#options
    await objects.remove(blobKey(blob.team, blob.id))
    await forgetBlob(store, blob)
  }
}

type Find<T> = (store: Store, limit: number) => Promise<T[]>
