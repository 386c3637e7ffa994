import { randomUUIDv7 } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { StorageService } from '@automation/contract/storage/v1/storage'
import { uploadMessages } from '@automation/contract/uploads'
import { asFailure, invalid, isPassing, type Failure } from '@automation/errors'
import type { CallContext, Client } from '@automation/rpc'
import { Busboy } from '@fastify/busboy'
import { requireModestTexts } from '../http/json-growth.ts'
import { feedForm, malformedForm, MAX_PARTS, tooManyParts } from '../http/form-feed.ts'
import { malformedRequest } from '../http/refusals.ts'
import { raw, type FormFile, type Payload } from './payload.ts'

const MAX_FILES = 50
const PIECE_BYTES = 64 * 1024
// A day.
const KEPT_S = 86_400n
const STORED_PIECE_BYTES = 128 * 1024
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
 * become arrays. Failures: too_many_files, too_many_parts, malformed_request, body_too_large where `maxBytes` of a body are
 * exceeded twice by the fields as JSON.
 */
export async function readMultipart(body: Buffer, contentType: string, maxBytes: number): Promise<Payload> {
  const form = new Form()
  const parser = parserOf(contentType, body.length)
  const { ended, refuse } = feedForm(parser, piecesOf(body))
  parser.on('partsLimit', () => refuse(tooManyParts()))
  parser.on('field', (name, value) => form.add(name, value))
  parser.on('file', (name, stream, filename, _encoding, type) => {
    const chunks: Buffer[] = []
    const at = form.add(name, undefined)
    stream.on('error', (error) => parser.destroy(malformedForm(error)))
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => form.addFile(at, Buffer.concat(chunks), filename, type))
  })
  try {
    await ended
  } catch (error) {
    parser.destroy()
    throw error
  }
  if (form.hasNameless) throw malformedRequest('A part of the multipart body has no name')
  if (form.files.length > MAX_FILES) throw invalid('', `The form has more than ${MAX_FILES} files`, 'too_many_files')
  requireModestTexts(form.texts, maxBytes)
  return { parameters: form.parameters(), hasTexts: true, files: form.files, ...raw(body, false) }
}

function parserOf(contentType: string, bodyBytes: number): Busboy {
  const limits = { fieldSize: bodyBytes + 1, parts: MAX_PARTS }
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits })
  } catch (error) {
    throw malformedForm(error)
  }
}

/** Others have their turn between the pieces. */
async function* piecesOf(body: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    if (at > 0) await setImmediate()
    yield body.subarray(at, at + PIECE_BYTES)
  }
}

/** The parts of a form in their order; a file has its place before it has been read. */
class Form {
  readonly files: FormFile[] = []
  readonly #id = randomUUIDv7()
  readonly #parts: { name: string; value: string | FileParameter | undefined }[] = []
  hasNameless = false

  /** The parser's types do not say that a part may have no name. */
  add(name: string | undefined, value: string | undefined): number {
    if (name === undefined) this.hasNameless = true
    return this.#parts.push({ name: name ?? '', value }) - 1
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

  get texts(): string[] {
    return this.#parts.flatMap(({ value }) => (typeof value === 'string' ? value : []))
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

/**
 * Keeps files for what `start` starts, which finds them; removes them where nothing was started and nothing will be, as by a
 * replay, whose run has those of its own call. Tells `report` of those that can't be removed, which go when their time is
 * over.
 */
export async function withFiles<T>(
  storage: Client<typeof StorageService>,
  files: FormFile[],
  context: () => CallContext,
  { start, isReplay, report }: FileUse<T>,
): Promise<T> {
  let isRefused = false
  try {
    await keepFiles(storage, files, context())
    return await start()
  } catch (error) {
    isRefused = isRefusal(error)
    throw error
  } finally {
    if (isRefused || isReplay()) for (const failure of await dropFiles(storage, files, context())) report(failure)
  }
}

interface FileUse<T> {
  start: () => Promise<T>
  /** Asked when `start` is over. */
  isReplay: () => boolean
  report: (failure: Failure) => void
}

function isRefusal(error: unknown): boolean {
  const { kind, executionId } = asFailure(error)
  return executionId === undefined && kind !== 'internal' && !isPassing(error)
}

/** Keeps the files of a form, where the parameters of the run say that they are. */
async function keepFiles(
  storage: Client<typeof StorageService>,
  files: FormFile[],
  context: CallContext,
): Promise<void> {
  for (const { storagePath: name, contentType, bytes } of files) {
    const begin = { name, contentType, size: BigInt(bytes.length), expiresInS: KEPT_S }
    await storage.uploadObject(uploadMessages(begin, partsOf(bytes)), context)
  }
}

/** Gives what failed. */
async function dropFiles(
  storage: Client<typeof StorageService>,
  files: FormFile[],
  context: CallContext,
): Promise<Failure[]> {
  const removals = files.map(({ storagePath: name }) => storage.deleteObject({ name }, context))
  const settled = await Promise.allSettled(removals)
  const failures = settled.flatMap((one) => (one.status === 'rejected' ? [asFailure(one.reason)] : []))
  // Some were not kept yet.
  return failures.filter(({ kind }) => kind !== 'not_found')
}

function* partsOf(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += STORED_PIECE_BYTES) yield bytes.subarray(at, at + STORED_PIECE_BYTES)
}
