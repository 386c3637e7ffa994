import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { MAX_PART_BYTES } from '@automation/contract/uploads'
import { invalid } from '@automation/errors'
import { Dicer } from '@fastify/busboy'
import type { GatewayConfig } from '../../config.ts'
import { type BodyRules, bodyStream, mediaTypeOf, requirePlain } from '../../http/body.ts'
import type { Exchange } from '../../http/exchange.ts'
import { unsupportedMediaType } from '../../http/refusals.ts'
import { feedForm, malformedForm, MAX_PARTS, tooManyParts } from '../../http/form-feed.ts'

/** What is uploaded, as it comes. */
interface UploadBody {
  /** As given; empty when none is. */
  contentType: string
  /** In bytes, where it is declared. */
  size: number | undefined
  content: AsyncIterable<Uint8Array>
}

// What waits here of an upload that goes on to where objects are kept.
const BUFFERED_BYTES = 128 * 1024
// What a form may have around the file.
const formBytes = 64 * 1024

const uploadTarget = /^\/api\/[^/?]+\/rest\/storage\/objects\/?(?:\?|$)/
const partTarget = /^\/api\/[^/?]+\/rest\/storage\/uploads\/[^/?]+\/parts\/[^/?]+\/?(?:\?|$)/

/** The largest body of an upload or a part of one, by the request target; undefined for other requests. */
export function uploadMaxBytesOf(target: string, config: Pick<GatewayConfig, 'uploadMaxBytes'>): number | undefined {
  if (uploadTarget.test(target)) return config.uploadMaxBytes
  return partTarget.test(target) ? partMaxBytes(config) : undefined
}

/** The largest part of an upload. */
export function partMaxBytes({ uploadMaxBytes }: Pick<GatewayConfig, 'uploadMaxBytes'>): number {
  return Math.min(uploadMaxBytes, MAX_PART_BYTES)
}

/**
 * Reads an upload: the part `file` of a multipart form, else the body itself. Failures: those of the body; invalid_input
 * at /file for a form without it.
 */
export async function uploadBody(exchange: Exchange, { maxBytes, budget }: BodyRules): Promise<UploadBody> {
  const { incoming } = exchange
  requirePlain(incoming)
  budget.takeForUpload(exchange, BUFFERED_BYTES)
  const contentType = incoming.headers['content-type'] ?? ''
  return isForm(contentType)
    ? await filePart(bodyStream(incoming, maxBytes + formBytes), contentType)
    : { contentType, ...plainBody(incoming, maxBytes) }
}

/** Reads a part of an upload: the body itself. Failures: those of the body; unsupported_media_type for a form. */
export function partBody(exchange: Exchange, { maxBytes, budget }: BodyRules): Omit<UploadBody, 'contentType'> {
  const { incoming } = exchange
  requirePlain(incoming)
  if (isForm(incoming.headers['content-type']))
    throw unsupportedMediaType('The body must be the bytes of the part, not a form')
  budget.takeForUpload(exchange, BUFFERED_BYTES)
  return plainBody(incoming, maxBytes)
}

function isForm(contentType: string | undefined): boolean {
  return mediaTypeOf(contentType).essence === 'multipart/form-data'
}

function plainBody(incoming: IncomingMessage, maxBytes: number): Omit<UploadBody, 'contentType'> {
  const { headers } = incoming
  const declared = headers['content-length']
  const empty = declared === undefined && headers['transfer-encoding'] === undefined
  const size = empty ? 0 : declared === undefined ? undefined : Number(declared)
  return { size, content: bodyStream(incoming, maxBytes) }
}

const name = 'file'
const MOST_NAMED = 5

// Of a part: names in lower case, each with its values.
type PartHeaders = Record<string, string[] | undefined>

/**
 * The part `file` of a multipart form, as soon as it begins, with or without a file name, and with the type that it
 * declares: empty when it declares none. Its content ends when the whole form has, so that one that is cut off is no
 * content. Other parts are passed over.
 */
async function filePart(body: AsyncIterable<Uint8Array>, contentType: string): Promise<UploadBody> {
  const parser = parserOf(contentType)
  const found = Promise.withResolvers<{ stream: Readable; type: string }>()
  let opened: Readable | undefined
  const { ended: fed, refuse } = feedForm(parser, body)
  let parts = 0
  const others: string[] = []
  parser.on('part', (part) => {
    if (++parts > MAX_PARTS) refuse(tooManyParts())
    // An error that nobody listens to would end the process; one that came early is told to who reads later.
    part.on('error', (error) => part.destroy(error))
    part.on('header', (given) => {
      const headers = given as PartHeaders
      const field = fieldOf(headers)
      if (field !== name) others.push(field ?? '')
      if (opened !== undefined || field !== name) return
      opened = part.pause()
      found.resolve({ stream: part, type: headers['content-type']?.[0] ?? '' })
    })
    part.resume()
  })
  fed.then(
    () => found.reject(invalid(`/${name}`, `is required: ${insteadOf(others)}`)),
    (error: Error) => {
      found.reject(error)
      // What was read of it is not all.
      parser.destroy()
      opened?.destroy(error)
    },
  )
  const { stream, type } = await found.promise
  return { contentType: type, size: undefined, content: contentOf(stream, fed) }
}

/** What a form has that lacks the file. */
function insteadOf(fields: string[]): string {
  if (fields.length === 0) return `send the file in the field "${name}" of the form, which is empty`
  const named = fields.slice(0, MOST_NAMED).map((field) => JSON.stringify(field.slice(0, 100).toWellFormed()))
  const more = fields.length > MOST_NAMED ? ', …' : ''
  return `send the file in the field "${name}"; the form has ${named.join(', ')}${more} instead`
}

/** The name of the field that a part is for. */
function fieldOf(headers: PartHeaders): string | undefined {
  const [disposition = ''] = headers['content-disposition'] ?? []
  for (const [, key, quoted, plain] of disposition.matchAll(/;\s*([\w*-]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^;\s]*))/g))
    if (key?.toLowerCase() === 'name') return quoted ?? plain
  return undefined
}

async function* contentOf(stream: Readable, fed: Promise<void>): AsyncIterable<Uint8Array> {
  try {
    for await (const piece of stream) yield piece as Buffer
  } catch (error) {
    // The form's own end says why.
    await fed
    throw malformedForm(error)
  }
  await fed
}

function parserOf(contentType: string): Dicer {
  const boundary = /;\s*boundary\s*=\s*(?:"([^"]+)"|([^;\s"]+))/i.exec(contentType)
  if (boundary === null) throw malformedForm(new Error('no boundary'))
  return new Dicer({ boundary: boundary[1] ?? boundary[2] })
}
