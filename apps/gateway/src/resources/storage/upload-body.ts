import { requirePlain, type BodyRules } from '../../http/body.ts'
import { bodyStream } from '../../http/body-stream.ts'
import type { Exchange } from '../../http/exchange.ts'
import { mediaTypeOf } from '../../http/media-type.ts'
import { filePart } from './file-part.ts'

/** What is uploaded, as it comes. */
export interface UploadBody {
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

/** Whether a request target is that of uploads, whose bodies may be larger than others. */
export function isUpload(target: string): boolean {
  return /^\/api\/[^/?]+\/rest\/storage\/objects\/?(?:\?|$)/.test(target)
}

/**
 * Reads an upload: the part `file` of a multipart form, else the body itself. Failures: those of the body; invalid_input
 * at /file for a form without it.
 */
export async function uploadBody(exchange: Exchange, { maxBytes, budget }: BodyRules): Promise<UploadBody> {
  const { incoming } = exchange
  requirePlain(incoming)
  budget.takeForUpload(exchange, BUFFERED_BYTES)
  const { headers } = incoming
  const contentType = headers['content-type'] ?? ''
  if (mediaTypeOf(contentType).essence === 'multipart/form-data')
    return filePart(bodyStream(incoming, maxBytes + formBytes), contentType)
  const declared = headers['content-length']
  const empty = declared === undefined && headers['transfer-encoding'] === undefined
  const size = empty ? 0 : declared === undefined ? undefined : Number(declared)
  return { contentType, size, content: bodyStream(incoming, maxBytes) }
}
