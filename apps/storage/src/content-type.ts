import { invalid } from '@automation/errors'
import mime from 'mime'

const unknown = 'application/octet-stream'
const maxChars = 255
// A type, a subtype and parameters as they may stand in a header.
const pattern = /^[\w!#$&^.+-]+\/[\w!#$&^.+*-]+(?:\s*;[\t\x20-\x7e]*)?$/

/** The type of an object's content: the one given, else guessed from the end of the name. Failure at /contentType. */
export function contentTypeOf(name: string, given: string): string {
  const type = given.trim()
  if (type === '' || essenceOf(type) === unknown) return mime.getType(name) ?? unknown
  if (type.length > maxChars || !pattern.test(type)) throw invalid('/contentType', 'must be a media type')
  return type
}

function essenceOf(type: string): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase()
}
