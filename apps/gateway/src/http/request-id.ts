import { readTraceparent } from '@automation/tracing'

const SANE = /^[A-Za-z0-9._:-]{1,128}$/

/** The caller's request id when it is safe to repeat and to log, else a new one. */
export function requestIdFrom(given: string | string[] | undefined): string {
  return typeof given === 'string' && SANE.test(given) ? given : crypto.randomUUID()
}

/** The caller's W3C trace context when it is well formed. */
export function traceparentFrom(given: string | string[] | undefined): string | undefined {
  return typeof given === 'string' && readTraceparent(given) !== undefined ? given : undefined
}
