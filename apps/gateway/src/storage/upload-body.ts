import type { IncomingMessage } from 'node:http'
import { requirePlain } from '../http/body.ts'
import { bodyStream } from '../http/body-stream.ts'
import { mediaTypeOf } from '../http/media-type.ts'
import { filePart } from './file-part.ts'

/** What is uploaded, as it comes. */
export interface UploadBody {
  /** As given; empty when none is. */
  contentType: string
  /** In bytes, where it is declared. */
  size: number | undefined
  content: AsyncIterable<Uint8Array>
}

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
export async function uploadBody(incoming: IncomingMessage, maxBytes: number): Promise<UploadBody> {
  requirePlain(incoming)
  const { headers } = incoming
  const contentType = headers['content-type'] ?? ''
  if (mediaTypeOf(contentType).essence === 'multipart/form-data')
    return filePart(bodyStream(incoming, maxBytes + formBytes), contentType)
  const declared = headers['content-length']
  const empty = declared === undefined && headers['transfer-encoding'] === undefined
  const size = empty ? 0 : declared === undefined ? undefined : Number(declared)
  return { contentType, size, content: bodyStream(incoming, maxBytes) }
}
