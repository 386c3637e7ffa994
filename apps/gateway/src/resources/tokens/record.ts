import type { AccessToken } from '@automation/contract/catalog/v1/token'
import { z } from '@hono/zod-openapi'

export const tokenRecord = z
  .object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().openapi({ format: 'int64', description: 'Seconds' }),
    scope: z.string(),
  })
  .openapi('Token', {
    example: { access_token: 'eyJhbGciOi…', token_type: 'Bearer', expires_in: 3600, scope: 'executor' },
  })

/** An access token in the words of OAuth. */
export function presentToken({ accessToken, expiresInS, scope }: AccessToken): z.input<typeof tokenRecord> {
  return { access_token: accessToken, token_type: 'Bearer', expires_in: expiresInS, scope }
}
