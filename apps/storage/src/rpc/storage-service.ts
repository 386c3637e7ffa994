import type { StorageService } from '@automation/contract/storage/v1/storage'
import { invalid } from '@automation/errors'
import { principalIn, type Handlers } from '@automation/rpc'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { ReadAsker } from '../callers.ts'
import { objectMessages } from '../object-message.ts'
import type { Objects } from '../objects.ts'
import type { Uploads } from '../uploads.ts'

export interface StorageParts {
  objects: Objects
  uploads: Uploads
  askerOf: ReadAsker
  publicUrl: string
}

/** Files of teams. */
export function storageService(parts: StorageParts): Handlers<typeof StorageService> {
  const { objects, uploads, askerOf, publicUrl } = parts
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

    async *listObjects({ prefix }, context) {
      const { team } = askerOf(context)
      const messageOf = objectMessages(publicUrl, team)
      for await (const rows of objects.list(team, prefix)) yield { objects: rows.map(messageOf) }
    },

    async deleteObject({ name }, context) {
      await objects.delete(askerOf(context), name)
      return {}
    },

    async signUrl({ name, expiresInS }, context) {
      const { url, expiresAt } = await objects.sign(askerOf(context), name, expiresInS)
      return { url, name, expiresAt: timestampFromDate(expiresAt) }
    },

    async openSignedUrl(link, context) {
      principalIn(context, 'service')
      return objectMessages(publicUrl, link.team)(await objects.open(link))
    },
  }
}
