import type { StorageObject, StorageService } from '@automation/contract/storage/v1/storage'
import { asFailure, notFound } from '@automation/errors'
import { attachment } from '@automation/objects/attachment'
import type { CallContext, Client } from '@automation/rpc'
import { timestampMs } from '@bufbuild/protobuf/wkt'
import type { Exchange } from '../../http/exchange.ts'
import type { Reply } from '../../rest/operation.ts'
import { selectionOf, type Representation, type Span } from './conditions.ts'

/** The answer to a GET or HEAD of an object: all of it, a part, or that it is unchanged. */
export function download(
  storage: Client<typeof StorageService>,
  found: StorageObject,
  exchange: Exchange,
  context: CallContext,
): Reply {
  const { headers: asked, method = '' } = exchange.incoming
  const representation = representationOf(found)
  const headers = headersOf(found, representation)
  const selection = selected(asked, method, representation, exchange)
  if (selection === 'unchanged') return { status: 304, headers }
  const span = selection === 'whole' ? { offset: 0, length: representation.size } : selection
  const source = method === 'HEAD' ? nothing() : pieces(storage, found.version, span, context)
  const described = { ...headers, 'Content-Type': found.contentType, 'Content-Length': String(span.length) }
  if (selection === 'whole') return { source, headers: described }
  const range = `bytes ${span.offset}-${span.offset + span.length - 1}/${representation.size}`
  return { status: 206, source, headers: { ...described, 'Content-Range': range } }
}

function representationOf({ md5, updatedAt, size }: StorageObject): Representation {
  const updatedMs = updatedAt === undefined ? 0 : timestampMs(updatedAt)
  return {
    etag: `"${Buffer.from(md5).toString('hex')}"`,
    lastModifiedS: Math.floor(updatedMs / 1000),
    size: Number(size),
  }
}

function headersOf({ name }: StorageObject, { etag, lastModifiedS }: Representation): Record<string, string> {
  return {
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, no-cache',
    // Whatever a team keeps: no browser is to run it here.
    'Content-Security-Policy': 'sandbox',
    'X-Content-Type-Options': 'nosniff',
    'Content-Disposition': attachment(name),
    ETag: etag,
    'Last-Modified': new Date(lastModifiedS * 1000).toUTCString(),
  }
}

function selected(
  asked: Exchange['incoming']['headers'],
  method: string,
  representation: Representation,
  { outgoing }: Exchange,
) {
  try {
    return selectionOf(asked, method, representation)
  } catch (error) {
    if (asFailure(error).code === 'range_not_satisfiable')
      outgoing.setHeader('Content-Range', `bytes */${representation.size}`)
    throw error
  }
}

async function* pieces(
  storage: Client<typeof StorageService>,
  version: string,
  { offset, length }: Span,
  context: CallContext,
): AsyncIterable<Uint8Array> {
  let sent = 0
  const request = { version, offset: BigInt(offset), length: BigInt(length) }
  for await (const { chunk } of storage.readObject(request, context)) {
    sent += chunk.byteLength
    yield chunk
  }
  if (sent !== length) throw notFound('object')
}

async function* nothing(): AsyncIterable<Uint8Array> {
  // A HEAD has no content.
}
