/** One request, sent again and again, and what its answer must be. */
export interface RequestSpec {
  url: string
  /** Asked in turn in place of it; all of the same server. */
  urls?: string[]
  headers?: Record<string, string>
  /** JSON text. */
  body: string
  expect: { status: number; body?: string }
  /** The header of the answer that names what was started; its values are in the result. */
  idHeader?: string
}

/**
 * How the request is repeated. `closed`: each connection sends the next when the answer is there, for some seconds.
 * `burst`: the same for a number of requests. `paced`: one connection, a pause between answer and next request.
 */
export type Pattern =
  | { kind: 'closed'; connections: number; warmUpS: number; seconds: number }
  | { kind: 'burst'; connections: number; count: number }
  | { kind: 'paced'; count: number; gapMs: number }

export interface LoadResult {
  count: number
  seconds: number
  perSecond: number
  p50Ms: number
  p99Ms: number
  maxMs: number
  /** Values of `idHeader`, in the order of the answers; empty without one. */
  ids: string[]
  /** Monotonic clock of the machine when each request was sent, in ns, beside `ids`. */
  sentAtNs: string[]
}
