import { randomUUIDv7 } from 'node:crypto'
import { Busboy } from '@fastify/busboy'
import { invalid } from '@automation/errors'
import { malformedRequest } from '../http/refusals.ts'
import { raw, type FormFile, type Payload } from './payload.ts'

const MAX_FILES = 50
const UNKNOWN_TYPE = 'application/octet-stream'

/** What parameters tell of a file. */
interface FileParameter {
  filename: string
  contentType: string
  size: number
  storagePath: string
}

/**
 * Reads a multipart form: fields as they are, files as what is known of them and where they will be kept; repeated names
 * become arrays. Failures: too_many_files, malformed_request.
 */
export function readMultipart(body: Buffer, contentType: string): Promise<Payload> {
  return new Promise((resolve, reject) => {
    const form = new Form()
    const malformed = (cause: unknown) => reject(malformedRequest('The multipart body is malformed', cause))
    let parser: Busboy
    try {
      const limits = { fieldSize: body.length + 1 }
      parser = new Busboy({ headers: { 'content-type': contentType }, limits })
    } catch (error) {
      malformed(error)
      return
    }
    parser.on('field', (name, value) => form.add(name, value))
    parser.on('file', (name, stream, filename, _encoding, type) => {
      const chunks: Buffer[] = []
      const at = form.add(name, undefined)
      stream.on('error', malformed)
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => form.addFile(at, Buffer.concat(chunks), filename, type))
    })
    parser.on('error', malformed)
    parser.on('finish', () => {
      if (form.files.length > MAX_FILES)
        reject(invalid('', `The form has more than ${MAX_FILES} files`, 'too_many_files'))
      else resolve({ parameters: form.parameters(), files: form.files, ...raw(body, false) })
    })
    parser.end(body)
  })
}

/** The parts of a form in their order; a file has its place before it has been read. */
class Form {
  readonly files: FormFile[] = []
  readonly #id = randomUUIDv7()
  readonly #parts: { name: string; value: string | FileParameter | undefined }[] = []

  add(name: string, value: string | undefined): number {
    return this.#parts.push({ name, value }) - 1
  }

  addFile(at: number, bytes: Buffer, filename: string | undefined, type: string | undefined): void {
    // What a browser sends for a field of files that was left empty.
    if (bytes.length === 0 && !filename) return
    const contentType = type || UNKNOWN_TYPE
    const storagePath = `.webhooks/${this.#id}/${this.files.length + 1}/${safeName(filename)}`
    this.files.push({ storagePath, contentType, bytes })
    const part = this.#parts[at]
    if (part !== undefined) part.value = { filename: filename ?? '', contentType, size: bytes.length, storagePath }
  }

  /** JSON text of the parameters. */
  parameters(): string {
    const fields = Object.create(null) as Record<string, unknown>
    for (const { name, value } of this.#parts) {
      if (value === undefined) continue
      const known = fields[name]
      if (known === undefined) fields[name] = value
      else if (Array.isArray(known)) known.push(value)
      else fields[name] = [known, value]
    }
    return JSON.stringify(fields)
  }
}

/** The last segment of an object's name, of whatever a form calls its file. */
function safeName(filename = ''): string {
  const plain = filename
    .replace(/[/\\\p{Cc}]/gu, '_')
    .slice(0, 200)
    .toWellFormed()
  return plain === '' || plain === '.' || plain === '..' ? 'file' : plain
}
