import { createHash } from 'node:crypto'
import type { KeepSetsRequest, UploadSetRequest } from '@automation/contract/storage/v1/package_set'
import { Failure, invalid, notFound } from '@automation/errors'
import type { ObjectStore } from '@automation/objects'
import type { Logger } from '@automation/service'
import { v7, validate } from 'uuid'
import { blobKey, type Store } from './store/store.ts'
import type { OwnSet } from './callers.ts'
import type { StorageConfig } from './config.ts'
import type { Metrics } from './metrics.ts'
import {
  dropSet,
  finishSet,
  hasSet,
  keepSets,
  noteList,
  readSet,
  setBlobName,
  timeOf,
  unusedSets,
  type SetName,
  type SetRow,
} from './store/package-sets.ts'
import { contentOf, type Writer, type Writings } from './writings.ts'

interface PackageSetsOptions {
  config: StorageConfig
  store: Store
  objects: ObjectStore
  writings: Writings
  metrics: Metrics
  logger: Logger
}

const removedAtOnce = 100
const runtimePattern = /^[a-z0-9][a-z0-9._-]{0,99}$/

/** Sets of installed packages: written once, by the install that made them, and read by runs of the same team. */
export class PackageSets {
  readonly #options: PackageSetsOptions

  constructor(options: PackageSetsOptions) {
    this.#options = options
  }

  /** Takes the own set of an install as it comes, `begin` first. What is there already stays. */
  async take(own: OwnSet, stream: AsyncIterable<UploadSetRequest>, left: AbortSignal): Promise<void> {
    const { config, store, writings } = this.#options
    const requests = stream[Symbol.asyncIterator]()
    try {
      const { value } = (await requests.next()) as { value?: UploadSetRequest }
      if (value?.part.case !== 'begin') throw invalid('/begin', 'must be the first message')
      const { runtime, size } = value.part.value
      const name = checkedName({ ...own, runtime })
      const declared = Number(size)
      if (declared <= 0 || declared > config.packageSetMaxBytes) throw tooLarge(config.packageSetMaxBytes)
      if ((await readSet(store, name)) !== undefined) return
      const writing = { blobId: v7(), team: own.team, name: setBlobName }
      await writings.write(writing, { what: 'object', maxBytes: declared }, left, (writer) =>
        this.#store(name, writing.blobId, { requests, declared, ...writer }),
      )
    } finally {
      // Not awaited: it may wait for something of its own.
      requests.return?.().catch(() => undefined)
    }
  }

  /** The packed set. Failures: package_set_not_found; package_set_damaged, at its end, where it is not what was uploaded. */
  async *read(name: SetName, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const { store, objects } = this.#options
    const row = await readSet(store, checkedName(name))
    if (row === undefined) throw notFound('package_set')
    const hash = createHash('sha256')
    try {
      for await (const piece of objects.read(blobKey(name.team, row.blobId), { offset: 0, length: row.size }, signal)) {
        hash.update(piece)
        yield piece
      }
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'object_missing')) throw error
      await this.#discard(name, row)
      throw notFound('package_set')
    }
    if (hash.digest().equals(row.digest)) return
    await this.#discard(name, row)
    throw new Failure('failed_precondition', 'package_set_damaged', 'The packages are not what was uploaded')
  }

  /** Whether a set is there for some runtime. */
  async has(team: string, key: string): Promise<boolean> {
    if (!validate(key)) throw invalid('/key', 'must be a UUID')
    return hasSet(this.#options.store, team, key)
  }

  /** Takes a list of what is in use; it counts as whole with its last message alone. */
  async keep(lists: AsyncIterable<KeepSetsRequest>): Promise<void> {
    const { store } = this.#options
    const beganAt = await timeOf(store)
    for await (const { sets, isLast } of lists) {
      if (!sets.every(({ key }) => validate(key))) throw invalid('/sets', 'must have UUIDs for keys')
      if (sets.length > 0) await keepSets(store, sets)
      if (isLast) return noteList(store, beganAt)
    }
  }

  /** Gives up what nothing has referred to for long; a sweep removes the contents. */
  async sweep(signal: AbortSignal): Promise<void> {
    const { config, store, metrics, logger } = this.#options
    const unused = () => unusedSets(store, config.packageSetKeepMs, removedAtOnce)
    for (let sets = await unused(); sets.length > 0 && !signal.aborted; sets = await unused())
      for (const { blobId, size, ...name } of sets) {
        logger.info(name, 'a set of packages is removed: nothing refers to it')
        await dropSet(store, name, blobId)
        metrics.setRemoved('unused', size)
      }
  }

  async #discard(name: SetName, { blobId, size }: SetRow): Promise<void> {
    const { store, metrics, logger } = this.#options
    logger.error({ ...name, blobId }, 'a set of packages is damaged in the object store, and is removed')
    await dropSet(store, name, blobId)
    metrics.setRemoved('damaged', size)
  }

  async #store(name: SetName, blobId: string, upload: Upload): Promise<void> {
    const { config, store, objects } = this.#options
    const { requests, quota, declared, signal } = upload
    await quota.take(declared)
    const hash = createHash('sha256')
    const content = contentOf(requests, quota, (piece) => hash.update(piece))
    const size = await objects.put(blobKey(name.team, blobId), content, { size: declared, signal })
    signal.throwIfAborted()
    const row = { size, digest: hash.digest() }
    await finishSet(store, name, { blobId, team: name.team, name: setBlobName }, row, config.teamMaxBytes)
  }
}

interface Upload extends Writer {
  requests: AsyncIterator<UploadSetRequest>
  declared: number
}

function checkedName(name: SetName): SetName {
  if (!validate(name.key)) throw invalid('/key', 'must be a UUID')
  if (!runtimePattern.test(name.runtime)) throw invalid('/runtime', 'must be the name of a runtime')
  return name
}

function tooLarge(maxBytes: number): Failure {
  return new Failure('too_large', 'package_set_too_large', `A set of packages may have from 1 to ${maxBytes} bytes`)
}
