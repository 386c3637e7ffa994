import { StorageService, type ListObjectsResponse, type StorageEntry } from '@automation/contract/storage/v1/storage'
import { uploadMessages } from '@automation/contract/uploads'
import { invalid, notFound, unavailable } from '@automation/errors'
import { asService, type Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import type { TeamAddresses } from '../../auth/team-addresses.ts'
import type { GatewayConfig } from '../../config.ts'
import type { BodyBudget } from '../../http/body-budget.ts'
import { requiredText, text } from '../../rest/fields.ts'
import { emptyReply, unhurried } from '../../rest/operation.ts'
import { objectName, wholeNumber } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { download } from './download.ts'
import {
  presentSignedUrl,
  presentStorageFolder,
  presentStorageObject,
  presentStorageUsage,
  signedUrlRecord,
  storageFolderRecord,
  storageObjectRecord,
  storageUsageRecord,
} from './record.ts'
import { uploadBody } from './upload-body.ts'

export interface StorageRoutesDependencies {
  neighbours: Neighbours
  config: GatewayConfig
  budget: BodyBudget
  teamAddresses: TeamAddresses
}

const signedUrlInput = z
  .object({
    path: requiredText().openapi({ description: 'Name of an object' }),
    expiresInSeconds: z.int().nullish().openapi({ format: 'int64', minimum: 1, maximum: 604_800, default: 3600 }),
  })
  .openapi('SignedUrlRequest', { example: { path: 'reports/2026-01.csv', expiresInSeconds: 3600 } })

const listQuery = z.object({
  prefix: text().optional().openapi({ description: 'Objects whose names begin with it' }),
  delimiter: text().optional().openapi({
    description:
      'Names that have it behind the prefix are told as one folder for all that are alike up to there, such as `/`; at most 16 characters',
    maxLength: 16,
  }),
  after: text().optional().openapi({ description: 'What comes behind this name or folder' }),
  limit: wholeNumber(1, Infinity, 0)
    .transform((limit) => Math.min(limit, 1000))
    .openapi({
      type: 'integer',
      format: 'int32',
      minimum: 1,
      description: 'The most objects and folders; above 1000 counts as 1000, absent is all of them',
    }),
})

const tag = 'Storage'
const bytes = z.string().openapi({ format: 'binary' })
const conditions = z.object({
  Range: z.string().optional().openapi({ description: 'One range of bytes, such as bytes=0-99' }),
  'If-Range': z.string().optional().openapi({ description: 'The range only of this content, by ETag or time' }),
  'If-Match': z.string().optional().openapi({ description: 'Only content with one of these ETags' }),
  'If-None-Match': z.string().optional().openapi({ description: 'Only content with none of these ETags' }),
  'If-Modified-Since': z.string().optional().openapi({ description: 'Only content that came later' }),
  'If-Unmodified-Since': z.string().optional().openapi({ description: 'Only content that did not come later' }),
})
const conditionRefusals = { 412: ['precondition_failed'], 416: ['range_not_satisfiable'] }
const downloaded = {
  status: 200,
  description: 'The content, with ETag and Last-Modified; Range and conditions are honoured',
  schema: bytes,
  mediaType: '*/*',
  headers: {
    'Content-Disposition': 'attachment with the file name',
    ETag: 'Of this content',
    'Last-Modified': 'When its content came',
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, no-cache',
    'Content-Security-Policy': 'sandbox',
    'X-Content-Type-Options': 'nosniff',
  },
  others: {
    206: { text: 'The range that was asked for', headers: { 'Content-Range': 'Which it is' } },
    304: { text: 'The caller has this content already', isEmpty: true },
  },
} as const

/** Objects: upload, list, download, delete, sign. */
export function storageRoutes(api: RestApi, { neighbours, config, budget }: StorageRoutesDependencies): void {
  // A connection of its own: contents hold up no other call.
  const storage = neighbours.client(StorageService, 'contents')
  const one = { path: '/storage/objects/{filename}', tag, parameters: { filename: objectName } }

  api.add(
    {
      method: 'get',
      scope: 'read',
      path: '/storage/objects',
      tag,
      summary: 'List objects by name',
      query: listQuery,
      success: {
        status: 200,
        description: 'All of them, or as many as `limit` says; the name or prefix of the last one is the next `after`',
        schema: z.array(z.union([storageObjectRecord, storageFolderRecord])),
      },
    },
    async (call) => {
      const { prefix = '', delimiter = '', after = '', limit } = call.query
      const lists = storage.listObjects({ prefix, delimiter, after, limit }, unhurried(call))
      return { source: listed(lists, { delimiter, after, limit }), headers: { 'Content-Type': 'application/json' } }
    },
  )

  api.add(
    {
      method: 'post',
      scope: 'build',
      path: '/storage/objects',
      tag,
      summary: 'Upload an object; one of the same name is replaced',
      query: z.object({
        filename: text()
          .optional()
          .openapi({ description: 'Name of the object; may have slashes', param: { required: true } }),
        name: text().optional().openapi({ description: 'Read where there is no filename, as some clients send it' }),
      }),
      content: {
        'multipart/form-data': z.object({ file: bytes }).openapi({ title: 'ObjectUpload' }),
        'application/octet-stream': bytes,
      },
      success: { status: 204, description: 'It is kept, whole' },
      refusals: { 400: ['limit_reached', 'too_many_parts'], 413: ['object_too_large', 'storage_full'] },
    },
    async (call) => {
      const name = call.query.filename || call.query.name
      if (!name) throw invalid('/filename', 'is required')
      const { contentType, size, content } = await uploadBody(call.exchange, {
        maxBytes: config.uploadMaxBytes,
        budget,
      })
      const known = size === undefined ? undefined : BigInt(size)
      await storage.uploadObject(uploadMessages({ name, contentType, size: known }, content), unhurried(call))
      return {}
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
      scope: 'read',
      summary: 'Download an object',
      headers: conditions,
      success: downloaded,
      refusals: conditionRefusals,
    },
    async (call) => {
      const found = await storage.getObject({ name: call.params['filename'] }, call.context)
      return download(storage, found, call.exchange, unhurried(call))
    },
  )

  api.add(
    {
      ...one,
      method: 'delete',
      scope: 'build',
      summary: 'Delete an object',
      success: { status: 204, description: 'It is gone, and with it the links to it' },
    },
    ({ params, context }) => emptyReply(storage.deleteObject({ name: params['filename'] }, context)),
  )

  api.add(
    {
      method: 'get',
      scope: 'read',
      path: '/storage/usage',
      tag,
      summary: 'Read how much the team keeps, and may keep',
      success: { status: 200, description: 'What is kept now', schema: storageUsageRecord },
    },
    async ({ context }) => ({ body: presentStorageUsage((await storage.getLimits({}, context)).limits) }),
  )

  api.add(
    {
      method: 'post',
      scope: 'build',
      path: '/storage/signed-urls',
      tag,
      summary: 'Make a link by which anybody may download an object for some time',
      body: signedUrlInput,
      success: { status: 200, description: 'The link', schema: signedUrlRecord },
      refusals: { 404: ['object_not_found'] },
    },
    async ({ body, context }) => {
      const expiresInS = body.expiresInSeconds == null ? undefined : BigInt(body.expiresInSeconds)
      const signed = await storage.signUrl({ name: body.path, expiresInS }, context)
      return { body: presentSignedUrl(signed) }
    },
  )
}

/** Downloads by links that lead to the gateway itself. */
export function signedDownloadRoutes(api: RestApi, { neighbours, teamAddresses }: StorageRoutesDependencies): void {
  const storage = neighbours.client(StorageService, 'contents')
  const query = ['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders', 'Signature']
  // Whatever is wrong with a link makes it invalid.
  const parameter = z.unknown().optional().openapi({ type: 'string' })

  api.add(
    {
      method: 'get',
      path: '/storage/signed/{filename}',
      tag,
      summary: 'Download an object by a signed link',
      open: true,
      parameters: { filename: objectName },
      query: z.object(Object.fromEntries(query.map((name) => [`X-Amz-${name}`, parameter]))),
      headers: conditions,
      success: downloaded,
      refusals: {
        ...conditionRefusals,
        403: ['signed_url_expired', 'signed_url_invalid'],
        429: ['too_many_calls'],
      },
    },
    async (call) => {
      const { exchange, team, params } = call
      const link = { team, name: params['filename'], method: exchange.incoming.method ?? '', query: exchange.query }
      const context = { ...unhurried(call), principal: asService('gateway', '') }
      const found = await storage.openSignedUrl(link, { ...context, deadlineMs: call.context.deadlineMs })
      // Only who has a good link may learn of a team that is being removed: others see no difference to one that never was.
      if (teamAddresses.isGone(team)) throw notFound('object')
      return download(storage, found, exchange, { ...context, principal: asService('gateway', team) })
    },
  )
}

function presentEntry(entry: StorageEntry['entry']) {
  if (entry.case === 'prefix') return presentStorageFolder(entry.value)
  return entry.case === 'object' ? presentStorageObject(entry.value) : undefined
}

interface Asked {
  delimiter: string
  after: string
  limit: number
}

/** A JSON array, written as it is read. */
async function* listed(lists: AsyncIterable<ListObjectsResponse>, asked: Asked): AsyncIterable<Uint8Array> {
  let before = '['
  let left = asked.limit || Infinity
  for await (const list of lists) {
    const items = shown(list, asked).slice(0, left)
    if (items.length > 0) yield Buffer.from(before + items.map((item) => JSON.stringify(item)).join(','))
    if (items.length > 0) before = ','
    left -= items.length
    if (left <= 0) break
  }
  yield Buffer.from(before === '[' ? '[]' : ']')
}

/** A storage of the release before this one has not heard of delimiters, and gives what is before `after`, too. */
function shown({ objects, entries }: ListObjectsResponse, { delimiter, after }: Asked) {
  if (delimiter !== '' && objects.length > 0) throw unavailable('Storage is being upgraded, try again')
  const start = Buffer.from(after)
  const behind = objects.filter(({ name }) => after === '' || Buffer.compare(Buffer.from(name), start) > 0)
  return [...behind.map(presentStorageObject), ...entries.flatMap(({ entry }) => presentEntry(entry) ?? [])]
}
