import { Busboy } from '@fastify/busboy'
import { invalid } from '@automation/errors'
import { malformedRequest } from '../http/refusals.ts'
import { raw, type Payload } from './payload.ts'

/**
 * Reads the fields of a multipart form; repeated ones become arrays. Failures: files_not_supported (files come with
 * storage, in a later release), malformed_request.
 */
export function readMultipart(body: Buffer, contentType: string): Promise<Payload> {
  return new Promise((resolve, reject) => {
    const fields = Object.create(null) as Record<string, string | string[]>
    const malformed = (cause: unknown) => reject(malformedRequest('The multipart body is malformed', cause))
    let parser: Busboy
    try {
      parser = new Busboy({ headers: { 'content-type': contentType }, limits: { fieldSize: body.length + 1 } })
    } catch (error) {
      malformed(error)
      return
    }
    parser.on('field', (name, value) => {
      const known = fields[name]
      if (known === undefined) fields[name] = value
      else fields[name] = [known, value].flat()
    })
    parser.on('file', (name, stream) => {
      stream.resume()
      reject(invalid(`/${name}`, 'File parts are not possible in this release', 'files_not_supported'))
    })
    parser.on('error', malformed)
    parser.on('finish', () => resolve({ parameters: JSON.stringify(fields), ...raw(body, false) }))
    parser.end(body)
  })
}
