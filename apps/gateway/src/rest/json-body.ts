import { readBody, type BodyRules } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import { isJson, mediaTypeOf } from '../http/media-type.ts'
import { unsupportedMediaType } from '../http/refusals.ts'
import { invalidJson, isObject, parseJson, utf8Text } from '../json/decode.ts'

/** A JSON body: its value, the text that it was read from, and the bytes as they came. */
export interface JsonBody {
  value: unknown
  text: string
  bytes: Buffer
}

const UTF8_CHARSETS = new Set([undefined, 'utf-8', 'utf8', 'us-ascii'])

/**
 * Reads the JSON object in a request's body; without a Content-Type too. With `optional` an empty body counts as `{}`.
 * Failures: those of the body; unsupported_media_type, invalid_json.
 */
export async function readJsonBody(exchange: Exchange, rules: BodyRules, optional: boolean): Promise<JsonBody> {
  const bytes = await readBody(exchange, rules)
  if (bytes.length === 0 && optional) return { value: {}, text: '{}', bytes }
  const { essence, charset } = mediaTypeOf(exchange.incoming.headers['content-type'])
  if (bytes.length > 0 && essence !== '' && !isJson(essence))
    throw unsupportedMediaType('The body must be application/json')
  if (!UTF8_CHARSETS.has(charset)) throw unsupportedMediaType('The body must be JSON in UTF-8')
  const text = utf8Text(bytes)
  if (text === undefined) throw invalidJson('', 'is not valid UTF-8')
  const value = parseJson(text)
  if (!isObject(value)) throw invalidJson('', 'must be a JSON object')
  return { value, text, bytes }
}
