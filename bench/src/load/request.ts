import type { RequestSpec } from './spec.ts'

/** A POST as it goes over a keep-alive connection. */
export function requestBytes({ url, headers = {}, body }: Pick<RequestSpec, 'url' | 'headers' | 'body'>): Buffer {
  const { host, pathname, search } = new URL(url)
  const all = {
    host,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from(`POST ${pathname}${search} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
}
