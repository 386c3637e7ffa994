import { Metadata } from '@grpc/grpc-js'
import type { CallContext, Principal } from './context.ts'

/**
 * What travels beside the message: credentials, request id, trace. The deadline goes the way of grpc. Credentials that can't
 * travel are left out, and nobody believes a call without any.
 */
export function metadataOf(authorization: string, context: Pick<CallContext, 'requestId' | 'traceparent'>): Metadata {
  const metadata = new Metadata()
  if (/^[ -~]*$/.test(authorization)) metadata.set('authorization', authorization)
  if (isSane(context.requestId)) metadata.set('x-request-id', context.requestId)
  if (context.traceparent !== undefined && isSane(context.traceparent)) metadata.set('traceparent', context.traceparent)
  return metadata
}

/** What `metadataOf` has written. */
export function besideIn(metadata: Metadata): { authorization: string; requestId?: string; traceparent?: string } {
  return {
    authorization: authorizationIn(metadata),
    requestId: textIn(metadata, 'x-request-id'),
    traceparent: textIn(metadata, 'traceparent'),
  }
}

/** Empty where there is none. */
export function authorizationIn(metadata: Metadata): string {
  return textIn(metadata, 'authorization') ?? ''
}

const apiKey = 'x-api-key'

/** Empty where there is none. */
export function apiKeyIn(metadata: Metadata): string {
  return textIn(metadata, apiKey) ?? ''
}

/** The metadata of calls with a key; those of a run bring its token, too. */
export function apiKeyMetadata(key: string, principal?: Principal): Metadata {
  const metadata = new Metadata()
  metadata.set(apiKey, key)
  if (principal?.role === 'run') metadata.set('authorization', `Bearer ${principal.token ?? ''}`)
  return metadata
}

/** The context of a call that came over the wire; `signal` is asked for when the handler looks at it. */
export function contextOf(
  metadata: Metadata,
  principal: Principal,
  deadline: Date | number,
  signal: () => AbortSignal,
): CallContext {
  const { requestId, traceparent } = besideIn(metadata)
  const deadlineMs = Number(deadline)
  return {
    principal,
    requestId: requestId !== undefined && isSane(requestId) ? requestId : crypto.randomUUID(),
    traceparent,
    deadlineMs: Number.isFinite(deadlineMs) ? deadlineMs : undefined,
    get signal() {
      return signal()
    },
  }
}

function isSane(text: string): boolean {
  return /^[\x21-\x7e]{1,200}$/.test(text)
}

function textIn(metadata: Metadata, name: string): string | undefined {
  const value = metadata.get(name)[0]
  return typeof value === 'string' ? value : undefined
}
