import type { StorageService } from '@automation/contract/storage/v1/storage'
import { invalid } from '@automation/errors'
import { principalIn, type Handlers } from '@automation/rpc'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { ReadAsker } from '../callers.ts'
import { objectMessage } from '../object-message.ts'
import type { Objects } from '../objects.ts'
import type { Uploads } from '../uploads.ts'

/** Files of teams. */
export function storageService(
  objects: Objects,
  uploads: Uploads,
  askerOf: ReadAsker,
): Handlers<typeof StorageService> {
  return {
    async uploadObject(requests, context) {
      return objectMessage(await uploads.take(askerOf(context), requests, context.signal))
    },

    async getObject({ name }, context) {
      return objectMessage(await objects.get(askerOf(context).team, name))
    },

    async *readObject({ version, offset, length }, context) {
      if (offset < 0n || length < 0n) throw invalid('/offset', 'must not be negative')
      const range = { offset: Number(offset), length: Number(length) }
      for await (const chunk of objects.read(askerOf(context).team, version, range, context.signal)) yield { chunk }
    },

    async *listObjects({ prefix }, context) {
      for await (const rows of objects.list(askerOf(context).team, prefix)) yield { objects: rows.map(objectMessage) }
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
      return objectMessage(await objects.open(link))
    },
  }
}
