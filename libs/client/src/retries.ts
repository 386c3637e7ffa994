import { ApiError, ConnectionError, TooManyRequestsError } from './errors.ts'

const repeatable = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
const passing = new Set([429, 502, 503, 504])

const firstPauseMs = 500
const longestPauseMs = 8000
/** A service that wants a longer pause is left alone: the caller is told. */
const longestWantedMs = 60_000

/** Whether a call may be made twice: it changes nothing the second time, or carries a key by which the service knows it. */
export function isRepeatable(method: string, headers: Headers): boolean {
  return repeatable.has(method) || (method === 'POST' && headers.has('Idempotency-Key'))
}

/** Whether a failed attempt may have done what was asked nevertheless. */
export function mayBeDone(failure: unknown): boolean {
  if (failure instanceof ConnectionError) return !notConnected.has(codeOf(failure.cause))
  return !(failure instanceof TooManyRequestsError)
}

/** Nothing was sent when the cause of a failed fetch has one of these codes. */
const notConnected = new Set<unknown>(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])
const codeOf = (error: unknown) => ((error as Error | undefined)?.cause as { code?: unknown } | undefined)?.code

/** Whether a start was rejected: it never ran, and the same key only gives the same answer. */
export function isRejection(failure: unknown): boolean {
  return failure instanceof ApiError && failure.code === 'execution_rejected'
}

/** Whether the refusal of a repeated call says that what was asked is done. */
export function saysDone(method: string, { status, code }: ApiError): boolean {
  // Neither another address nor another team says that the thing itself is gone.
  if (method === 'DELETE')
    return code === 'nothing_staged' || (status === 404 && code.endsWith('_not_found') && code !== 'team_not_found')
  return method === 'PUT' && doneByPut.has(code)
}

/** The answers of pause, resume and kill alone. */
const doneByPut = new Set(['schedule_paused', 'schedule_active', 'execution_ended'])

/**
 * The pause before the next attempt in milliseconds; undefined where another is of no use. `failures` counts those so
 * far; `chance` is from 0 to 1. A wait that the service gave up (408) is no failure: what was started goes on.
 */
export function pauseMs(error: unknown, failures: number, chance: number): number | undefined {
  const backoffMs = Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs) * (0.5 + chance / 2)
  if (error instanceof ConnectionError) return backoffMs
  if (!(error instanceof ApiError) || !passing.has(error.status)) return undefined
  const wantedMs = error.retryAfterMs ?? 0
  return wantedMs > longestWantedMs ? undefined : Math.max(wantedMs, backoffMs)
}

/** Waits. Rejects with the signal's reason when it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(reasonOf(signal))
    }
    if (signal?.aborted) return reject(reasonOf(signal))
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    signal?.addEventListener('abort', end, { once: true })
  })
}

/** What is waited for. Rejects with the signal's reason when it is aborted before; what is waited for goes on. */
export async function until<T>(waitedFor: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return waitedFor
  const aborted = Promise.withResolvers<never>()
  const end = () => aborted.reject(reasonOf(signal))
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  try {
    return await Promise.race([waitedFor, aborted.promise])
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** As an Error, whatever it was aborted with. */
export function reasonOf(signal?: AbortSignal): Error {
  const reason: unknown = signal?.reason
  return reason instanceof Error ? reason : new DOMException(String(reason), 'AbortError')
}

/** An idempotency key: 128 random bits. (randomUUID is for secure pages alone.) */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
