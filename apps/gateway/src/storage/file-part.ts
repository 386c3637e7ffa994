import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { Dicer } from '@fastify/busboy'
import { invalid } from '@automation/errors'
import { malformedRequest } from '../http/refusals.ts'
import type { UploadBody } from './upload-body.ts'

const name = 'file'

// Of a part: names in lower case, each with its values.
type PartHeaders = Record<string, string[] | undefined>

/**
 * The part `file` of a multipart form, as soon as it begins, with or without a file name, and with the type that it
 * declares: empty when it declares none. Its content ends when the whole form has, so that one that is cut off is no
 * content. Other parts are passed over.
 */
export async function filePart(body: AsyncIterable<Uint8Array>, contentType: string): Promise<UploadBody> {
  const parser = parserOf(contentType)
  const found = Promise.withResolvers<{ stream: Readable; type: string }>()
  let opened: Readable | undefined
  parser.on('part', (part) => {
    // An error that nobody listens to would end the process; one that came early is told to who reads later.
    part.on('error', (error) => part.destroy(error))
    part.on('header', (given) => {
      const headers = given as PartHeaders
      if (opened !== undefined || fieldOf(headers) !== name) return
      opened = part.pause()
      found.resolve({ stream: part, type: headers['content-type']?.[0] ?? '' })
    })
    part.resume()
  })
  const fed = feed(parser, body)
  fed.then(
    () => found.reject(invalid(`/${name}`, 'is required: the form has no such file')),
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
    throw malformedRequest('The multipart body is malformed', error)
  }
  await fed
}

function parserOf(contentType: string): Dicer {
  const boundary = /;\s*boundary\s*=\s*(?:"([^"]+)"|([^;\s"]+))/i.exec(contentType)
  if (boundary === null) throw malformedRequest('The multipart body is malformed', new Error('no boundary'))
  return new Dicer({ boundary: boundary[1] ?? boundary[2] })
}

/** Gives the body to the parser, as fast as that takes it; resolves when the form has ended. */
async function feed(parser: Dicer, body: AsyncIterable<Uint8Array>): Promise<void> {
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  // Stays: an error that nobody listens to would end the process.
  parser.on('error', (error) => reject(malformedRequest('The multipart body is malformed', error)))
  parser.on('finish', resolve)
  ended.catch(() => undefined)
  for await (const piece of body) if (!parser.write(piece)) await Promise.race([once(parser, 'drain'), ended])
  parser.end()
  await ended
}
