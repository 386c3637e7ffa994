import type { CallContext } from '@automation/rpc'

const principal = { role: 'user' as const, team: '', subject: 'sandbox', name: 'sandbox' }

const timeoutMs = 60_000

/** A call that asks and is answered, within a minute. */
export function callContext(): CallContext {
  return {
    principal,
    requestId: crypto.randomUUID(),
    deadlineMs: Date.now() + timeoutMs,
    signal: new AbortController().signal,
  }
}

/** A call that goes on until `signal` ends it. */
export function streamContext(signal: AbortSignal): CallContext {
  return { principal, requestId: crypto.randomUUID(), signal }
}
