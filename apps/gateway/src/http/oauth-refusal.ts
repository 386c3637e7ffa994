import type { AnswerHeaders } from './answer.ts'

/** What RFC 6749 §5.2 calls refusals of the token endpoint; failures have these words as their codes. */
export const OAUTH_ERRORS: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_client',
  'unsupported_grant_type',
  'invalid_scope',
])

/** Nothing of the token endpoint is kept by those between. */
export const NOT_STORED = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }

/**
 * What such a refusal has beside a problem: members and headers. OAuth clients read nothing but `application/json`, and
 * ask for it. Undefined for any other code.
 */
export function oauthRefusal(
  code: string,
  text: string,
  accept: string | undefined,
): { members: Record<string, string>; headers: AnswerHeaders } | undefined {
  if (!OAUTH_ERRORS.has(code)) return undefined
  const headers: AnswerHeaders = { ...NOT_STORED }
  if (/(?:^|[\s,])application\/json\b/i.test(accept ?? '')) headers['Content-Type'] = 'application/json'
  return { members: { error: code, error_description: text }, headers }
}
