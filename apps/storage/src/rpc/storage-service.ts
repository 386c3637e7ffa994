import type { LimitSchema } from '@automation/contract/common/v1/limit'
import type { DatastoreService } from '@automation/contract/storage/v1/datastore'
import type { PackageSetService } from '@automation/contract/storage/v1/package_set'
import type { StorageObjectSchema, StorageService } from '@automation/contract/storage/v1/storage'
import { pageInfo, windowOf } from '@automation/database'
import { invalid } from '@automation/errors'
import { memberIn, principalIn, type Handlers } from '@automation/rpc'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { ReadAsker, ReadRights } from '../callers.ts'
import type { Datastore } from '../datastore.ts'
import type { Objects } from '../objects.ts'
import type { PackageSets } from '../package-sets.ts'
import type { ListedEntry } from '../store/object-lists.ts'
import type { ObjectRow } from '../store/objects.ts'
import type { Uploads } from '../uploads.ts'

interface StorageParts {
  objects: Objects
  uploads: Uploads
  /** What a team may keep and has. */
  limitsOf: (team: string) => Promise<MessageInitShape<typeof LimitSchema>[]>
  askerOf: ReadAsker
  publicUrl: string
}

/** Files of teams. */
export function storageService(parts: StorageParts): Handlers<typeof StorageService> {
  const { objects, uploads, limitsOf, askerOf, publicUrl } = parts
  return {
    async uploadObject(requests, context) {
      const asker = askerOf(context)
      return objectMessages(publicUrl, asker.team)(await uploads.take(asker, requests, context.signal))
    },

    async getObject({ name }, context) {
      const { team } = askerOf(context)
      return objectMessages(publicUrl, team)(await objects.get(team, name))
    },

    async *readObject({ version, offset, length }, context) {
      if (offset < 0n || length < 0n) throw invalid('/offset', 'must not be negative')
      const range = { offset: Number(offset), length: Number(length) }
      for await (const chunk of objects.read(askerOf(context).team, version, range, context.signal)) yield { chunk }
    },

    async *listObjects(wanted, context) {
      const { team } = askerOf(context)
      const messageOf = objectMessages(publicUrl, team)
      for await (const rows of objects.list(team, wanted)) {
        if (wanted.delimiter === '') yield { objects: rows.flatMap(({ object }) => object ?? []).map(messageOf) }
        else yield { entries: rows.map((row) => ({ entry: entryOf(row, messageOf) })) }
      }
    },

    async deleteObject({ name }, context) {
      await objects.delete(askerOf(context), name)
      return {}
    },

    async signUrl({ name, expiresInS }, context) {
      const { url, expiresAt } = await objects.sign(askerOf(context), name, expiresInS)
      return { url, name, expiresAt: timestampFromDate(expiresAt) }
    },

    async getLimits(_, context) {
      return { limits: await limitsOf(askerOf(context).team) }
    },

    async openSignedUrl(link, context) {
      principalIn(context, 'service')
      return objectMessages(publicUrl, link.team)(await objects.open(link))
    },
  }
}

function entryOf({ object, folder }: ListedEntry, messageOf: ReturnType<typeof objectMessages>) {
  return object === undefined
    ? { case: 'prefix' as const, value: folder }
    : { case: 'object' as const, value: messageOf(object) }
}

/** Rows of a team as the contract has them; objects are reached below `publicUrl`. */
export function objectMessages(
  publicUrl: string,
  team: string,
): (row: ObjectRow) => MessageInitShape<typeof StorageObjectSchema> {
  const root = `${publicUrl}/api/${team}/rest/storage/objects`
  return (row) => ({
    name: row.name,
    size: BigInt(row.size),
    md5: row.md5,
    contentType: row.contentType,
    createdAt: timestampFromDate(row.createdAt),
    updatedAt: timestampFromDate(row.updatedAt),
    version: row.blobId,
    link: `${root}/${row.name.split('/').map(encodeURIComponent).join('/')}`,
  })
}

/** Small values that the runs of a team share. */
export function datastoreService(datastore: Datastore, askerOf: ReadAsker): Handlers<typeof DatastoreService> {
  return {
    async getValue({ key }, context) {
      return { value: await datastore.get(askerOf(context).team, key) }
    },

    async setValue({ key, value }, context) {
      await datastore.set(askerOf(context).team, key, value)
      return {}
    },

    async deleteValue({ key }, context) {
      return { existed: await datastore.delete(askerOf(context).team, key) }
    },

    async listEntries({ page, prefix }, context) {
      const window = windowOf(page)
      const { rows, total } = await datastore.entries(askerOf(context).team, prefix, window)
      const entries = rows.map(({ updatedAt, value, ...row }) => ({
        ...row,
        value: value ?? undefined,
        updatedAt: timestampFromDate(updatedAt),
      }))
      return { entries, page: pageInfo(window, total, rows.length) }
    },

    async listKeys({ prefix }, context) {
      return { keys: await datastore.keys(askerOf(context).team, prefix) }
    },
  }
}

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

    async hasSet({ key }, context) {
      principalIn(context, 'service')
      return { isThere: await sets.has(memberIn(context).team, key) }
    },

    async keepSets(lists, context) {
      principalIn(context, 'service')
      await sets.keep(lists)
      return {}
    },
  }
}
