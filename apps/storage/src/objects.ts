import { Failure, invalid, notFound } from '@automation/errors'
import type { ByteRange, ObjectStore } from '@automation/objects'
import { attachment } from '@automation/objects/attachment'
import type { Member } from '@automation/rpc'
import { within, type Logger } from '@automation/service'
import { blobKey, isBlobId, type Store } from './store/store.ts'
import type { StorageConfig } from './config.ts'
import type { SignedUrls } from './signed-urls.ts'
import { spanOf, type ListQuery } from './list-span.ts'
import { listEntries, type ListedEntry } from './store/object-lists.ts'
import { deleteObject, isReadable, noteLink, readObject, type ObjectRow } from './store/objects.ts'
import type { Sweeper } from './sweeper.ts'

interface ObjectsOptions {
  config: StorageConfig
  store: Store
  objects: ObjectStore
  sweeper: Sweeper
  signedUrls: SignedUrls
  logger: Logger
  /** Is told that contents are to be removed. */
  dropped: () => void
}

const listedAtOnce = 500
const defaultLinkS = 3600
const longestLinkS = 604_800

/** The objects of teams. Everything of another team counts as not there. */
export class Objects {
  readonly #options: ObjectsOptions

  constructor(options: ObjectsOptions) {
    this.#options = options
  }

  async get(team: string, name: string): Promise<ObjectRow> {
    const row = await readObject(this.#options.store, team, checkedName(name))
    if (row === undefined) throw notFound('object')
    return row
  }

  async *read(team: string, version: string, range: ByteRange, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const { store, objects } = this.#options
    if (!isBlobId(version) || !(await isReadable(store, team, version))) throw notFound('object')
    try {
      yield* objects.read(blobKey(team, version), range, signal)
    } catch (error) {
      // Deleted since.
      throw error instanceof Failure && error.code === 'object_missing' ? notFound('object') : error
    }
  }

  /** Objects and folders in the order of their names, some at a time. */
  async *list(team: string, wanted: ListQuery): AsyncIterable<ListedEntry[]> {
    const span = spanOf(wanted)
    let { from } = span
    for (let left = wanted.limit || Infinity; left > 0 && from !== undefined;) {
      const limit = Math.min(left, listedAtOnce)
      const entries: ListedEntry[] = await listEntries(this.#options.store, team, { ...span, from, limit })
      if (entries.length > 0) yield entries
      if (entries.length < limit) return
      from = entries.at(-1)?.goesOnAt
      left -= entries.length
    }
  }

  /**
   * Its content is gone from the store when this returns, unless that is away: then as soon as it is back. So are those
   * that it had before, as many as there is time for; the sweep removes the rest.
   */
  async delete(asker: Member, name: string): Promise<void> {
    const { config, store } = this.#options
    const blobs = await deleteObject(store, asker, checkedName(name))
    if (blobs === undefined) throw notFound('object')
    await within(config.storeWaitMs, this.#remove(asker.team, blobs))
  }

  /** Throws nothing. */
  async #remove(team: string, blobs: string[]): Promise<void> {
    const { config, sweeper, logger, dropped } = this.#options
    const until = performance.now() + config.deleteWaitMs
    try {
      for (const id of blobs) {
        await sweeper.remove({ id, team })
        if (performance.now() >= until) return dropped()
      }
    } catch (error) {
      logger.warn({ err: error }, 'a deleted content will be removed later')
    }
  }

  /** A link for downloads: to the object store where that has an address, else to the gateway. */
  async sign(asker: Member, name: string, seconds: bigint | undefined): Promise<{ url: string; expiresAt: Date }> {
    const expiresInS = checkedExpiry(seconds)
    const { store, objects, signedUrls } = this.#options
    const nowMs = Date.now()
    const { team } = asker
    const row = await this.get(team, checkedName(name, '/path'))
    const terms = { expiresInS, contentType: row.contentType, contentDisposition: attachment(name) }
    const direct = await objects.link(blobKey(team, row.blobId), terms)
    const isDirect = direct !== undefined
    if (!(await noteLink(store, asker, row, { isDirect, expiresInS }))) throw notFound('object')
    const url = direct ?? signedUrls.sign({ team, name }, nowMs, expiresInS)
    return { url, expiresAt: new Date((Math.floor(nowMs / 1000) + expiresInS) * 1000) }
  }

  /** The object that a link of the gateway leads to. */
  async open(link: { team: string; name: string; method: string; query: string }): Promise<ObjectRow> {
    this.#options.signedUrls.check(link, Date.now())
    return this.get(link.team, link.name)
  }
}

function checkedExpiry(seconds: bigint | undefined): number {
  if (seconds === undefined) return defaultLinkS
  if (seconds < 1n || seconds > BigInt(longestLinkS))
    throw invalid('/expiresInSeconds', `must be from 1 to ${longestLinkS}`)
  return Number(seconds)
}

const maxBytes = 1024

const control = /\p{Cc}/u

/** A name as it may be kept. Failure invalid_input at `path`, by the rules of the contract. */
export function checkedName(name: string, path = '/filename'): string {
  const fault = faultOf(name)
  if (fault !== undefined) throw invalid(path, fault)
  return name
}

function faultOf(name: string): string | undefined {
  if (name === '') return 'is required'
  if (!name.isWellFormed()) return 'must be valid Unicode'
  if (Buffer.byteLength(name) > maxBytes) return `must have at most ${maxBytes} bytes`
  if (control.test(name)) return 'must hold no control characters'
  const segments = name.split('/')
  if (segments.includes('')) return 'must have no leading, doubled or trailing slash'
  if (segments.includes('.') || segments.includes('..')) return 'must have no segment . or ..'
  return undefined
}
