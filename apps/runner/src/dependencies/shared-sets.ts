import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { DependencySet } from '@automation/contract/catalog/v1/resolve'
import { PackageSetService } from '@automation/contract/storage/v1/package_set'
import { Failure } from '@automation/errors'
import { uploadMessages } from '@automation/contract/uploads'
import { asRunWith, ownContext, type CallContext, type Client, type Neighbours } from '@automation/rpc'
import type { Packed } from './packing.ts'

/** A set of packages as it is shared: what it is for, and the token of the run that asks. */
export interface SharedSet {
  set: DependencySet
  runtime: string
  token: string
}

const chunkBytes = 256 * 1024
const fetchTimeoutMs = 120_000

/** What was fetched is not what the install made. */
export class DamagedSet extends Error {}

/** Sets of packages in the object store, by way of storage and with the rights of runs: a runner has none of its own. */
export class SharedSets {
  readonly #sets: Client<typeof PackageSetService>

  constructor(neighbours: Neighbours) {
    this.#sets = neighbours.client(PackageSetService, 'contents')
  }

  /**
   * Writes the packed set to a new file, and gives its bytes; undefined where it is not shared. Throws DamagedSet where
   * it is not that which the catalog knows, and Failures of storage.
   */
  async fetch(
    { set, runtime, token }: SharedSet,
    path: string,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const context = contextOf(token, AbortSignal.any([signal, AbortSignal.timeout(fetchTimeoutMs)]))
    const hash = createHash('sha256')
    const file = await open(path, 'wx', 0o600)
    let bytes = 0
    try {
      for await (const { chunk } of this.#sets.downloadSet({ key: set.key, runtime }, context)) {
        bytes += chunk.byteLength
        if (bytes > maxBytes) throw new DamagedSet('It is larger than a set may be')
        hash.update(chunk)
        await file.writeFile(chunk)
      }
    } catch (error) {
      if (error instanceof Failure && error.code === 'package_set_not_found') return undefined
      if (error instanceof Failure && error.code === 'package_set_damaged') throw new DamagedSet(error.message)
      throw error
    } finally {
      await file.close()
    }
    if (hash.digest('hex') !== set.digest) throw new DamagedSet('Its digest is not that of the install')
    return bytes
  }

  /** Shares what an install has made; `token` is the install's. */
  async share(
    { runtime, token }: SharedSet,
    path: string,
    { packedBytes }: Packed,
    signal: AbortSignal,
  ): Promise<void> {
    const context = contextOf(token, AbortSignal.any([signal, AbortSignal.timeout(fetchTimeoutMs)]))
    const file = await open(path)
    // Storage may refuse before anybody reads it, and then nobody would hear its errors.
    const content = file.createReadStream({ highWaterMark: chunkBytes })
    try {
      await this.#sets.uploadSet(uploadMessages({ runtime, size: BigInt(packedBytes) }, content), context)
    } finally {
      content.destroy()
    }
  }
}

function contextOf(token: string, signal: AbortSignal): CallContext {
  return { ...ownContext(asRunWith(token), fetchTimeoutMs), signal }
}
