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

  async sweep(signal: AbortSignal): Promise<void> {
    const { store, graceMs } = this.#options
    await giveUpUploads(store, graceMs)
    const objects = await expiredObjects(store, batch)
    await ofEach(objects, ({ team, name }) => deleteExpiredObject(store, team, name))
    await ofEach(await expiredUploads(store, batch), (upload) => deleteExpiredUpload(store, upload))
    for (let due = await dueBlobs(store, batch); due.length > 0 && !signal.aborted; due = await dueBlobs(store, batch))
      await ofEach(due, (blob) => this.remove(blob))
  }

  /** From the store first: the row says that there is something to be removed. */
  async remove(blob: DueBlob): Promise<void> {
    const { store, objects } = this.#options
    await objects.remove(blobKey(blob.team, blob.id))
    await forgetBlob(store, blob)
  }
}

/** One after the other. What fails for one, as where its team's rows are locked, keeps none of the others; it is thrown behind them. */
async function ofEach<T>(rows: T[], work: (row: T) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = []
  for (const row of rows) await work(row).catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}
