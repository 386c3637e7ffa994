import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import { invalid } from '@automation/errors'
import { malformedRequest } from '../http/refusals.ts'
import type { UploadBody } from './upload-body.ts'

const name = 'file'

/**
 * The part `file` of a multipart form, as soon as it begins; its content ends when the whole form has, so that one that
 * is cut off is no content. Other parts are passed over.
 */
export async function filePart(body: AsyncIterable<Uint8Array>, contentType: string): Promise<UploadBody> {
  const parser = parserOf(contentType)
  const found = Promise.withResolvers<{ stream: Readable; type: string }>()
  let taken = false
  let opened: Readable | undefined
  parser.on('file', (field, stream, _filename, _encoding, type) => {
    // An error that nobody listens to would end the process; one that came early is told to who reads later.
    stream.on('error', (error) => stream.destroy(error))
    if (field !== name || taken) return void stream.resume()
    taken = true
    opened = stream
    found.resolve({ stream, type })
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

function parserOf(contentType: string): Busboy {
  try {
    return new Busboy({ headers: { 'content-type': contentType } })
  } catch (error) {
    throw malformedRequest('The multipart body is malformed', error)
  }
}

/** Gives the body to the parser, as fast as that takes it; resolves when the form has ended. */
async function feed(parser: Busboy, body: AsyncIterable<Uint8Array>): Promise<void> {
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  // Stays: an error that nobody listens to would end the process.
  parser.on('error', (error) => reject(malformedRequest('The multipart body is malformed', error)))
  parser.on('finish', resolve)
  ended.catch(() => undefined)
  for await (const piece of body) if (!parser.write(piece)) await Promise.race([once(parser, 'drain'), ended])
  parser.end()
  await ended
}
