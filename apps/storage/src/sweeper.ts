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
   * Until nothing is due, or nothing of a batch can be removed. What fails, as where its team's rows are locked, holds up
   * nothing else; it is thrown behind all.
   */
  async sweep(signal: AbortSignal): Promise<void> {
    const { store, graceMs } = this.#options
    await giveUpUploads(store, graceMs)
    const failures: unknown[] = []
    const removeAll = async <T>(find: Find<T>, remove: (row: T) => Promise<unknown>) => {
      const failed = new Set<string>()
      for (let removed = 1; removed > 0;) {
        removed = 0
        for (const row of await find(store, batch + failed.size)) {
          if (signal.aborted) return
          if (failed.has(JSON.stringify(row))) continue
          try {
            await remove(row)
            removed += 1
          } catch (error) {
            failed.add(JSON.stringify(row))
            failures.push(error)
          }
        }
      }
    }
    await removeAll(expiredObjects, ({ team, name }) => deleteExpiredObject(store, team, name))
    await removeAll(expiredUploads, (upload) => deleteExpiredUpload(store, upload))
    await removeAll(dueBlobs, (blob) => this.remove(blob))
    if (failures.length > 0) throw failures[0]
  }

  /** From the store first: the row says that there is something to be removed. */
  async remove(blob: DueBlob): Promise<void> {
    const { store, objects } = this.#options
    await objects.remove(blobKey(blob.team, blob.id))
    await forgetBlob(store, blob)
  }
}

type Find<T> = (store: Store, limit: number) => Promise<T[]>
