import { isUtf8 } from 'node:buffer'
import { isText, type MediaType } from './body.ts'
import { bodyTooLargeAsJson } from './refusals.ts'

/** Printable text at most doubles as a JSON string, as quotes and line breaks do. */
const MOST_GROWTH = 2
/** A control character becomes such as `\u0001`. */
const LARGEST_GROWTH = 6

/** Bytes of a JSON string beyond the first, by the byte of the text that they stand for. */
const growth = Uint8Array.from({ length: 256 }, (_, byte) => JSON.stringify(String.fromCharCode(byte)).length - 3)

/**
 * Runs get a text as JSON, where it may grow: what grows far beyond the bound for bodies is refused before it is written so.
 * Failure: body_too_large.
 */
export function requireModestGrowth(body: Buffer, { essence }: MediaType, maxBytes: number): void {
  if (isText(essence) && isUtf8(body)) requireModestTexts([body], maxBytes)
}

/** The same for texts that come together, such as the fields of a form. */
export function requireModestTexts(texts: (Buffer | string)[], maxBytes: number): void {
  const mostBytes = MOST_GROWTH * maxBytes
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  if (length * LARGEST_GROWTH <= mostBytes) return
  let bytes = 0
  for (const text of texts) {
    const encoded = typeof text === 'string' ? Buffer.from(text) : text
    bytes += encoded.length
    for (let at = 0; at < encoded.length; at++) bytes += growth[encoded[at]!]!
  }
  if (bytes > mostBytes) throw bodyTooLargeAsJson(mostBytes)
}

/** The same for the JSON text of parameters, as bytes. */
export function boundedParameters(text: string, maxBytes: number): Buffer {
  if (Buffer.byteLength(text) > MOST_GROWTH * maxBytes) throw bodyTooLargeAsJson(MOST_GROWTH * maxBytes)
  return Buffer.from(text)
}
