/** A Content-Type, taken apart: names in lower case. */
export interface MediaType {
  /** Such as `application/json`; empty when there is no header, `unknown` when it names no type. */
  essence: string
  charset: string | undefined
}

/** Reads a Content-Type header. What is not understood of its parameters is left out. */
export function mediaTypeOf(header: string | undefined): MediaType {
  if (header === undefined || header === '') return { essence: '', charset: undefined }
  const semicolon = header.indexOf(';')
  if (semicolon === -1) return { essence: essenceOf(header), charset: undefined }
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)"?/i.exec(header)?.[1]?.toLowerCase()
  return { essence: essenceOf(header.slice(0, semicolon)), charset }
}

function essenceOf(text: string): string {
  return text.trim().toLowerCase() || 'unknown'
}

/** Whether a media type says JSON, as `application/json` and `…+json` do. */
export function isJson(essence: string): boolean {
  return essence === 'application/json' || (essence.endsWith('+json') && essence.includes('/'))
}

const TEXT_TYPES = new Set([
  'application/xml',
  'application/x-www-form-urlencoded',
  'application/javascript',
  'application/x-javascript',
  'application/ecmascript',
])

/** Types whose body is text for people: text/*, JSON, XML, form and JavaScript types. */
export function isText(essence: string): boolean {
  return isJson(essence) || essence.startsWith('text/') || essence.endsWith('+xml') || TEXT_TYPES.has(essence)
}
