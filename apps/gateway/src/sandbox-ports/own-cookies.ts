import { isSessionCookie } from '../http/session-cookie.ts'
import { readSetCookie, setCookieText } from '../http/set-cookie.ts'

/**
 * Keeps cookies of sandboxes apart that share an origin by path. A request tells of a cookie neither who has set it nor
 * for which path, and cookies know no ports: so each carries the sandbox in its name, as long as it is with the client.
 */
export class OwnCookies {
  readonly #mark: string
  readonly #prefix: string

  /** `prefix` is the path below which the port is reached. */
  constructor(sandboxId: string, prefix: string) {
    this.#mark = `${sandboxId}.`
    this.#prefix = prefix
  }

  /** Of a Cookie header what this sandbox has set, by the names that it gave; empty for nothing. */
  received(header: string): string {
    const own: string[] = []
    for (const pair of header.split(';')) {
      const text = pair.trim()
      if (text.startsWith(this.#mark)) own.push(text.slice(this.#mark.length))
    }
    return own.join('; ')
  }

  /** A Set-Cookie header as the client gets it. */
  sent(header: string): string {
    const cookie = readSetCookie(header)
    const path = cookie.path === undefined ? undefined : this.#below(cookie.path)
    return setCookieText({ ...cookie, name: `${this.#mark}${cookie.name}`, path })
  }

  #below(path: string): string | undefined {
    if (path === this.#prefix || path.startsWith(`${this.#prefix}/`)) return path
    // A browser takes one without a slash for none at all.
    return path.startsWith('/') ? `${this.#prefix}${path}` : undefined
  }
}

/**
 * A Set-Cookie header for its host alone: a domain would have all sandboxes below it get it. Empty for a cookie by the
 * service's own name.
 */
export function hostCookie(header: string): string {
  const cookie = readSetCookie(header)
  return isSessionCookie(cookie.name) ? '' : setCookieText(cookie)
}
