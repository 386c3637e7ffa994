import { isUtf8 } from 'node:buffer'
import { setImmediate } from 'node:timers/promises'
import { Failure } from '@automation/errors'
import { isJson, isText, type MediaType } from '../http/body.ts'
import { unsupportedMediaType } from '../http/refusals.ts'
import { invalidJson, isObject, parseJson, utf8Text } from '../http/json.ts'
import { queryRecord } from '../http/exchange.ts'

/** What a process gets of a request body. */
export interface Payload {
  /** JSON text of an object. */
  parameters: string
  /** All values of the parameters are texts, as those of a form. */
  hasTexts?: boolean
  /** The body as it came: text, or base64. */
  rawBody: string
  isBase64: boolean
  /** That came in a form; kept before the run starts. */
  files?: FormFile[]
}

/** A file of a form. The parameters tell of it, and where it is kept. */
export interface FormFile {
  storagePath: string
  contentType: string
  bytes: Buffer
}

const FORM = 'application/x-www-form-urlencoded'

/** Others have their turn between what is done with all of a body that is larger. */
export const LONG_WORK_BYTES = 1024 * 1024

const NO_PAYLOAD: Payload = { parameters: '{}', rawBody: '', isBase64: false }

/**
 * Reads the body of a POST. JSON becomes the parameters (what is no object under `body`, an empty body or `null` as `{}`),
 * a form an object; of other types the process gets the raw body alone. Multipart forms are read in multipart.ts.
 * Failures: invalid_json; unsupported_media_type for a charset that is not known.
 */
export async function readPayload(body: Buffer, type: MediaType): Promise<Payload> {
  if (body.length === 0) return NO_PAYLOAD
  if (type.essence === '') return withoutType(body)
  if (!isText(type.essence)) return { parameters: '{}', ...raw(body, false) }
  if (type.essence === FORM) return await formPayload(body, type.charset)
  if (!isJson(type.essence)) return { parameters: '{}', ...raw(body, true) }
  const text = decoded(body, type.charset)
  return { parameters: jsonParameters(text, parseJson(text)), ...raw(body, true) }
}

/** The body of a GET, whose parameters are its query: as it came. */
export function unreadPayload(body: Buffer, { essence }: MediaType): Payload {
  if (body.length === 0) return NO_PAYLOAD
  return essence === '' ? withoutType(body) : { parameters: '{}', ...raw(body, isText(essence)) }
}

async function formPayload(body: Buffer, charset: string | undefined): Promise<Payload> {
  const othersTurn = async () => {
    if (body.length > LONG_WORK_BYTES) await setImmediate()
  }
  const text = decoded(body, charset)
  await othersTurn()
  const record = queryRecord(text)
  await othersTurn()
  const parameters = JSON.stringify(record)
  await othersTurn()
  return { parameters, hasTexts: true, ...raw(body, true) }
}

/** The body as process code sees it, for any type. */
export function raw(body: Buffer, asText: boolean): { rawBody: string; isBase64: boolean } {
  if (asText && isUtf8(body)) return { rawBody: body.toString('utf8'), isBase64: false }
  return { rawBody: body.toString('base64'), isBase64: body.length > 0 }
}

/** Without a Content-Type a body is JSON where it can be read so. */
function withoutType(body: Buffer): Payload {
  const text = utf8Text(body)
  const value = text === undefined ? undefined : parsedOrUndefined(text)
  if (text === undefined || value === undefined) return { parameters: '{}', ...raw(body, false) }
  return { parameters: jsonParameters(text, value), ...raw(body, true) }
}

/** The value of a JSON text; undefined when it is none that is read. */
function parsedOrUndefined(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}

function jsonParameters(text: string, value: unknown): string {
  if (isObject(value)) return text
  return value === null ? '{}' : `{"body":${text}}`
}

function decoded(body: Buffer, charset: string | undefined): string {
  if (charset === undefined || charset === 'utf-8' || charset === 'utf8') {
    const text = utf8Text(body)
    if (text === undefined) throw invalidJson('', 'is not valid UTF-8')
    return text
  }
  try {
    return new TextDecoder(charset, { fatal: true }).decode(body)
  } catch (error) {
    if (error instanceof RangeError) throw unsupportedMediaType(`The charset ${charset} is not known`)
    throw invalidJson('', `is not valid ${charset}`, error)
  }
}
