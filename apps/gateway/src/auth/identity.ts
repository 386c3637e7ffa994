import type { JWTPayload } from 'jose'

/** Who a verified access token speaks for. */
export interface Identity {
  subject: string
  name: string
  /** Teams that the token may act for. */
  groups: string[]
  scope: string
  /** Unix time in ms at which the token ends. */
  endsMs: number
}

/** Reads the claims of a verified token, ours or an external issuer's. */
export function identityOf(claims: JWTPayload): Identity {
  const subject = textClaim(claims['client_id']) ?? textClaim(claims.sub) ?? ''
  const scope = claims['scope'] ?? claims['scp']
  return {
    subject,
    name: textClaim(claims['name']) ?? subject,
    groups: Array.isArray(claims['groups']) ? claims['groups'].filter((group) => typeof group === 'string') : [],
    scope: Array.isArray(scope) ? scope.join(' ') : (textClaim(scope) ?? ''),
    endsMs: (claims.exp ?? 0) * 1000,
  }
}

/** Whether a space-separated scope holds a word. */
export function hasScope(scope: string, word: string): boolean {
  return scope === word || scope.split(' ').includes(word)
}

function textClaim(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim !== '' ? claim : undefined
}
