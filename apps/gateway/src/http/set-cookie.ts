/** A Set-Cookie header, taken apart as browsers do. */
interface SetCookie {
  name: string
  value: string
  /** In lower case, without the leading dot; undefined for a cookie of its host alone. */
  domain: string | undefined
  path: string | undefined
  /** The other attributes, as they came. */
  attributes: string[]
}

/** Takes a Set-Cookie header apart. Of an attribute that is there twice the last counts. */
export function readSetCookie(text: string): SetCookie {
  const [pair = '', ...given] = text.split(';')
  const equals = pair.indexOf('=')
  const cookie: SetCookie = {
    name: pair.slice(0, Math.max(0, equals)).trim(),
    value: pair.slice(equals + 1).trim(),
    domain: undefined,
    path: undefined,
    attributes: [],
  }
  for (const attribute of given) {
    const [, name = '', setting = ''] = /^\s*(domain|path)\s*=(.*)$/is.exec(attribute) ?? []
    if (name === '') cookie.attributes.push(attribute)
    else if (name.toLowerCase() === 'path') cookie.path = setting.trim()
    else
      cookie.domain =
        setting
          .trim()
          .replaceAll(/^"?\.?|"$/g, '')
          .toLowerCase() || undefined
  }
  return cookie
}

/** The header again, for the host that answers alone. */
export function setCookieText({ name, value, path, attributes }: SetCookie): string {
  const where = path === undefined ? [] : [` Path=${path}`]
  return [`${name}=${value}`, ...attributes, ...where].join(';')
}
