import { UploadService } from '@automation/contract/storage/v1/upload'
import { MAX_PARTS, uploadMessages } from '@automation/contract/uploads'
import { invalid } from '@automation/errors'
import { z } from '@hono/zod-openapi'
import { headerText } from '../../http/caller.ts'
import type { Exchange } from '../../http/exchange.ts'
import { optionalText, requiredText } from '../../rest/fields.ts'
import { emptyReply, unhurried } from '../../rest/operation.ts'
import { idOf, type PathParameter } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { presentStorageObject, storageObjectRecord } from './record.ts'
import type { StorageRoutesDependencies } from './routes.ts'
import { partBody, partMaxBytes } from './upload-body.ts'
import {
  presentListedUpload,
  presentUpload,
  presentUploadPart,
  uploadPartRecord,
  uploadRecord,
} from './upload-record.ts'

const uploadInput = z
  .object({
    name: requiredText().openapi({ description: 'Name of the object; may have slashes' }),
    size: z.int().min(0).nullish().openapi({
      format: 'int64',
      description:
        'Of the whole in bytes, where it is known: what does not fit is refused at once, and a part is missed',
    }),
    contentType: optionalText().openapi({ description: 'Absent, it is guessed from the name' }),
  })
  .openapi('CreateStorageUploadInput', {
    example: { name: 'backups/2026-01.tar', size: 31_457_280, contentType: 'application/x-tar' },
  })

const partNumber: PathParameter = {
  schema: z.int().openapi({ format: 'int32', minimum: 1, maximum: MAX_PARTS }),
  refusals: { 400: ['invalid_input'] },
  read(text) {
    const number = /^\d{1,5}$/.test(text) ? Number(text) : 0
    if (number < 1 || number > MAX_PARTS) throw invalid('/number', `must be a whole number from 1 to ${MAX_PARTS}`)
    return String(number)
  },
}

// Storage answers before: where it is not done by then, with upload_completing.
const COMPLETE_TIMEOUT_MS = 60_000

const tag = 'Storage'
const path = '/storage/uploads'

/** Uploads in parts, which go on after a cut. */
export function uploadRoutes(api: RestApi, { neighbours, config, budget }: StorageRoutesDependencies): void {
  // A connection of its own: contents hold up no other call.
  const uploads = neighbours.client(UploadService, 'contents')
  const one = { path: `${path}/{id}`, tag, parameters: { id: idOf('upload') } }

  api.add(
    {
      method: 'post',
      scope: 'build',
      path,
      tag,
      summary: 'Begin an upload in parts, which can go on after a cut',
      body: uploadInput,
      success: { status: 201, description: 'It waits for parts', schema: uploadRecord },
      refusals: { 400: ['limit_reached'], 413: ['object_too_large', 'storage_full'] },
    },
    async ({ body, context }) => {
      const size = body.size == null ? undefined : BigInt(body.size)
      const asked = { name: body.name, contentType: body.contentType ?? '', size }
      return { body: presentUpload(await uploads.createUpload(asked, context)) }
    },
  )

  api.add(
    {
      method: 'get',
      scope: 'read',
      path,
      tag,
      summary: 'List uploads in parts that are not completed, the oldest first',
      success: { status: 200, description: 'All of them, without their parts', schema: z.array(uploadRecord) },
    },
    async ({ context }) => ({
      body: (await uploads.listUploads({}, context)).uploads.map(presentListedUpload),
    }),
  )

  api.add(
    {
      ...one,
      method: 'get',
      scope: 'read',
      summary: 'Read an upload in parts',
      success: { status: 200, description: 'The upload with the parts that have come', schema: uploadRecord },
    },
    async ({ params, context }) => ({
      body: presentUpload(await uploads.getUpload({ id: params['id'] }, context)),
    }),
  )

  api.add(
    {
      ...one,
      method: 'put',
      scope: 'build',
      path: `${path}/{id}/parts/{number}`,
      summary: 'Upload a part; one of the same number is replaced',
      parameters: { ...one.parameters, number: partNumber },
      headers: z.object({
        'Content-MD5': z
          .string()
          .optional()
          .openapi({ description: 'MD5 of the part in base64, which it is held against' }),
      }),
      content: { 'application/octet-stream': z.string().openapi({ format: 'binary' }) },
      success: { status: 200, description: 'It is kept, whole', schema: uploadPartRecord },
      refusals: {
        400: ['limit_reached', 'upload_closed', 'wrong_digest'],
        413: ['object_too_large', 'part_too_large', 'storage_full'],
      },
    },
    async (call) => {
      const { exchange, params } = call
      const md5 = md5Of(exchange)
      const { size, content } = partBody(exchange, { maxBytes: partMaxBytes(config), budget })
      const begin = {
        id: params['id'],
        number: Number(params['number']),
        size: size === undefined ? undefined : BigInt(size),
        md5,
      }
      const kept = await uploads.putPart(uploadMessages(begin, content), unhurried(call))
      return { body: presentUploadPart(kept) }
    },
  )

  api.add(
    {
      ...one,
      method: 'post',
      scope: 'build',
      path: `${path}/{id}/complete`,
      timeoutMs: COMPLETE_TIMEOUT_MS,
      summary: 'Make one object of all parts of an upload',
      success: {
        status: 200,
        description: 'The object, in place of one of the same name. Asked again within an hour, the answer is the same',
        schema: storageObjectRecord,
      },
      refusals: {
        400: ['limit_reached', 'parts_missing', 'wrong_size'],
        413: ['storage_full'],
        503: ['upload_completing'],
      },
    },
    async ({ params, context }) => ({
      body: presentStorageObject(await uploads.completeUpload({ id: params['id'] }, context)),
    }),
  )

  api.add(
    {
      ...one,
      method: 'delete',
      scope: 'build',
      summary: 'Give an upload in parts up',
      success: { status: 204, description: 'It is gone, with its parts' },
    },
    ({ params, context }) => emptyReply(uploads.deleteUpload({ id: params['id'] }, context)),
  )
}

/** The digest that a part must have; undefined where the caller names none. */
function md5Of(exchange: Exchange): Buffer | undefined {
  const text = headerText(exchange, 'content-md5')
  if (text === undefined || text === '') return undefined
  if (!/^[A-Za-z0-9+/]{22}==$/.test(text)) throw invalid('/Content-MD5', 'must be the MD5 of the part in base64')
  return Buffer.from(text, 'base64')
}
