/** One request that no well-behaved client sends, and what may come back. */
export interface Attempt {
  /** What kind of fault it has; the report counts by it. */
  fault: string
  method: string
  /** From the root of the host, sent as it is. */
  path: string
  headers: Record<string, string | string[]>
  body?: string | Uint8Array
  /** Instead of all above: these bytes on a socket. */
  raw?: string | Uint8Array
  /**
   * `refused`: only a 4xx is right. `any`: it may be accepted as well; then whatever it made is removed afterwards.
   */
  expect: 'refused' | 'any'
  /** The status, where it is known. */
  status?: readonly number[]
  /** Pointers of faults of which at least one must be named. */
  paths?: readonly string[]
}

/** What came back; status 0 where the connection was closed without an answer. */
export interface Reply {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

/** The attempt in one line, so that it can be repeated by hand. */
export function describeAttempt({ fault, method, path, headers, body, raw }: Attempt): string {
  if (raw !== undefined) return `${fault}: raw ${JSON.stringify(short(raw))}`
  const { authorization, ...others } = headers
  const who = authorization === undefined ? 'without a token' : 'with a token'
  return `${fault}: ${method} ${short(path)} ${who} ${short(JSON.stringify(others))} ${body === undefined ? '' : short(body)}`
}

function short(text: string | Uint8Array): string {
  const words = typeof text === 'string' ? text : Buffer.from(text).toString('latin1')
  return words.length > 300 ? `${words.slice(0, 250)}… (${words.length} characters)` : words
}
