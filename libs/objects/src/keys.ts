const segment = '[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?'
const pattern = new RegExp(`^${segment}(?:/${segment}){0,7}$`)

/**
 * What every store takes alike: up to eight segments between slashes, each of a-z, 0-9 and inner dots, hyphens and
 * underscores. Names that users give are data beside the object, never its key. Throws a TypeError for others.
 */
export function checkKey(key: string): string {
  if (!pattern.test(key)) throw new TypeError(`Not a key of an object: ${JSON.stringify(key)}`)
  return key
}
