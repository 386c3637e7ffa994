import { DatastoreService } from '@automation/contract/storage/v1/datastore'
import { StorageService, type ListObjectsResponse, type StorageObject } from '@automation/contract/storage/v1/storage'
import { asFailure, invalid } from '@automation/errors'
import type { CallContext, Client, Neighbours } from '@automation/rpc'
import { timestampDate } from '@bufbuild/protobuf/wkt'
import type { ActiveRun } from './active-run.ts'
import { Transfers } from './transfers.ts'

/** What a call gives: a value for JSON, or bytes as they are. */
export type Given = { value: unknown } | { bytes: Uint8Array }

type Sent = Record<string, unknown> & { body: Buffer }
type Act = (sent: Sent, run: ActiveRun, context: CallContext) => Promise<Given>

/** `svc.storage` and `svc.datastore`: what process code asks for, asked of storage with the run's own rights. */
export class StorageCalls {
  readonly #storage: Client<typeof StorageService>
  readonly #datastore: Client<typeof DatastoreService>
  readonly #transfers = new WeakMap<ActiveRun, Transfers>()
  readonly #acts: Record<string, Act>

  constructor(neighbours: Neighbours) {
    this.#storage = neighbours.client(StorageService, 'contents')
    this.#datastore = neighbours.client(DatastoreService, 'run')
    this.#acts = { ...this.#storageActs(), ...this.#datastoreActs() }
  }

  /** What a call of this method does, whose `body` is what stands behind it; undefined where there is none. */
  act(method: unknown): Act | undefined {
    return typeof method === 'string' && Object.hasOwn(this.#acts, method) ? this.#acts[method] : undefined
  }

  #storageActs(): Record<string, Act> {
    const storage = this.#storage
    return {
      'storage.upload': async (sent, run, context) => ({
        value: this.#of(run).beginUpload(textOf(sent, 'name'), textOf(sent, 'contentType'), context),
      }),
      'storage.write': async (sent, run) => {
        await this.#of(run).write(numberOf(sent), sent.body)
        return nothing
      },
      'storage.finish': async (sent, run) => ({ value: shownObject(await this.#of(run).finish(numberOf(sent))) }),
      'storage.download': async (sent, run, context) => {
        const { version, size } = await storage.getObject({ name: textOf(sent, 'name') }, context)
        const answers = storage.readObject({ version, offset: 0n, length: size }, context)
        return { value: this.#of(run).beginReading(contentOf(answers, size)) }
      },
      'storage.list': async (sent, run, context) => ({
        value: this.#of(run).beginReading(shownLists(storage.listObjects({ prefix: textOf(sent, 'prefix') }, context))),
      }),
      'storage.read': async (sent, run) => {
        const bytes = await this.#of(run).read(numberOf(sent))
        return bytes === undefined ? { value: null } : { bytes }
      },
      'storage.close': async (sent, run) => {
        this.#of(run).close(numberOf(sent))
        return nothing
      },
      'storage.delete': async (sent, _, context) => {
        await storage.deleteObject({ name: textOf(sent, 'name') }, context)
        return nothing
      },
      'storage.createSignedUrl': async (sent, _, context) => {
        const seconds = sent['expiresInSeconds']
        if (seconds != null && !Number.isSafeInteger(seconds))
          throw invalid('/expiresInSeconds', 'must be a whole number')
        const expiresInS = seconds == null ? undefined : BigInt(seconds as number)
        const { url, name, expiresAt } = await storage.signUrl({ name: textOf(sent, 'name'), expiresInS }, context)
        return { value: { url, path: name, expiresAt: shownTime(expiresAt) } }
      },
    }
  }

  #datastoreActs(): Record<string, Act> {
    const datastore = this.#datastore
    return {
      'datastore.get': async (sent, _, context) => {
        const { value } = await datastore.getValue({ key: textOf(sent, 'key') }, context)
        return { bytes: Buffer.from(value ?? 'null') }
      },
      'datastore.set': async (sent, _, context) => {
        await datastore.setValue({ key: textOf(sent, 'key'), value: sent.body.toString() }, context)
        return nothing
      },
      'datastore.delete': async (sent, _, context) => ({
        value: (await datastore.deleteValue({ key: textOf(sent, 'key') }, context)).existed,
      }),
      'datastore.keys': async (sent, _, context) => ({
        value: (await datastore.listKeys({ prefix: textOf(sent, 'prefix') }, context)).keys,
      }),
    }
  }

  #of(run: ActiveRun): Transfers {
    let transfers = this.#transfers.get(run)
    if (transfers === undefined) this.#transfers.set(run, (transfers = new Transfers(this.#storage, run.signal)))
    return transfers
  }
}

const nothing = { value: null }

async function* contentOf(answers: AsyncIterable<{ chunk: Uint8Array }>, size: bigint): AsyncIterable<Uint8Array> {
  let left = Number(size)
  for await (const { chunk } of answers) {
    left -= chunk.byteLength
    if (chunk.byteLength > 0) yield chunk
  }
  if (left !== 0) throw asFailure(new Error('A content ended early'))
}

async function* shownLists(lists: AsyncIterable<ListObjectsResponse>): AsyncIterable<Uint8Array> {
  for await (const { objects } of lists) yield Buffer.from(JSON.stringify(objects.map(shownObject)))
}

function shownObject(object: StorageObject): object {
  return {
    name: object.name,
    size: Number(object.size),
    md5Hash: Buffer.from(object.md5).toString('base64'),
    contentType: object.contentType,
    createdAt: shownTime(object.createdAt),
    updatedAt: shownTime(object.updatedAt),
    link: object.link,
  }
}

function shownTime(time: StorageObject['createdAt']): string | undefined {
  return time && timestampDate(time).toISOString()
}

function textOf(sent: Sent, name: string): string {
  const value = sent[name] ?? ''
  if (typeof value !== 'string') throw invalid(`/${name}`, 'must be a string')
  return value.toWellFormed()
}

function numberOf(sent: Sent): number {
  return typeof sent['transfer'] === 'number' ? sent['transfer'] : -1
}
