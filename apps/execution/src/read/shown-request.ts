import type { WebhookRequestSchema } from '@automation/contract/execution/v1/execution'
import type { MessageInitShape } from '@bufbuild/protobuf'

const anywhere =
  /token|secret|key(?!word)|passw|passphrase|signature|auth(?!ors?\b)|cookie|credential|session|hmac|jwt|bearer|assertion|csrf|xsrf|principal|client-cert/i
/** As a word of its own. */
const words = /(?:^|[^a-z0-9])(?:key|sig|sas|sign|pass|pwd|pin|otp|totp|code|ticket|nonce|cert|sid)(?:$|[^a-z0-9])/i

interface StoredRequest {
  method?: string
  query?: Record<string, unknown>
  headers?: Record<string, unknown>
  rawBody?: string
  isBase64?: boolean
}

/** A stored request (JSON text) as people may see it: without what by its name may be a credential. */
export function shownRequestOf(
  text: string,
): Exclude<MessageInitShape<typeof WebhookRequestSchema>, { $typeName: string }> {
  const { method, query, headers, rawBody, isBase64 } = JSON.parse(text) as StoredRequest
  return {
    method: method ?? '',
    query: withoutCredentials(query),
    headers: withoutCredentials(headers),
    rawBody,
    isBase64: isBase64 ?? false,
  }
}

function withoutCredentials(values: Record<string, unknown> = {}): Uint8Array {
  const shown = Object.entries(values).filter(([name]) => !mayBeCredential(name))
  return Buffer.from(JSON.stringify(Object.fromEntries(shown)))
}

function mayBeCredential(name: string): boolean {
  return anywhere.test(name) || words.test(name)
}
