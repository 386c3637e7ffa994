import type { Check } from '@automation/service'

/** What a link to an object says of it. */
export interface LinkTerms {
  /** 1 to 604,800. */
  expiresInS: number
  /** Headers of the answer. */
  contentType: string
  contentDisposition: string
}

export interface PutOptions {
  /** In bytes, where it is known; a content of another length is refused. */
  size?: number
  /** Gives the put up; nothing of it stays. */
  signal?: AbortSignal
}

/** Bytes of an object, both in bytes. */
export interface ByteRange {
  offset: number
  length: number
}

/**
 * Where bytes are kept under keys of our own making (`keyRules`). Two adapters: the disk, and S3.
 *
 * An object is there whole or not at all, also when the process is killed or the machine loses its power in the middle:
 * a reader that asks only for keys that were put never sees half an object. Keys are not put twice at the same
 * time with different contents. Failures: `object_missing` (not_found), `unavailable` while the store is away or full.
 */
export interface ObjectStore {
  readonly kind: 'disk' | 's3'
  /** Makes it ready for use; waits for nothing that is away. */
  open(): Promise<void>
  /** Keeps a content, read only as fast as it is stored. Resolves with its size in bytes when it is safe. */
  put(key: string, content: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<number>
  /** The content in pieces, or a range of it that must lie within. */
  read(key: string, range?: ByteRange, signal?: AbortSignal): AsyncIterable<Uint8Array>
  /** In bytes; undefined when it is not there. */
  size(key: string): Promise<number | undefined>
  /** Removes it with all that a put which was cut off has left; one that is not there is no error. */
  remove(key: string): Promise<void>
  /** Removes all whose keys begin with these segments, and a slash. */
  removeAll(prefix: string): Promise<void>
  /** A link by which anybody may download it from the store itself; undefined where the store has no address. */
  link(key: string, terms: LinkTerms): Promise<string | undefined>
  check(): Promise<Check>
  close(): Promise<void>
}

const segment = '[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?'
const pattern = new RegExp(`^${segment}(?:/${segment}){0,7}$`)

/**
 * What every store takes alike: up to eight segments between slashes, each of a-z, 0-9 and inner dots, hyphens and
 * underscores. Names that users give are data beside the object, never its key. Throws a TypeError for others.
 */
export function checkKey(key: string): string {
  if (!pattern.test(key)) throw new TypeError(`Not a key of an object: ${JSON.stringify(key)}`)
  return key
}
