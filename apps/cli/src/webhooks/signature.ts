import { createHmac } from 'node:crypto'

export const signatureSchemes = ['github', 'stripe', 'slack', 'shopify', 'hmac'] as const
export type SignatureScheme = (typeof signatureSchemes)[number]

/** The headers by which a sender signs a body (HMAC-SHA256). `header` is for the scheme `hmac`. */
export function signatureHeaders(
  scheme: SignatureScheme,
  secret: string,
  body: string | Uint8Array,
  options: { nowMs: number; header?: string },
): Record<string, string> {
  const seconds = Math.floor(options.nowMs / 1000)
  const sign = (before = '') => createHmac('sha256', secret).update(before).update(body)
  switch (scheme) {
    case 'github':
      return { 'X-Hub-Signature-256': `sha256=${sign().digest('hex')}` }
    case 'stripe':
      return { 'Stripe-Signature': `t=${seconds},v1=${sign(`${seconds}.`).digest('hex')}` }
    case 'slack':
      return {
        'X-Slack-Request-Timestamp': `${seconds}`,
        'X-Slack-Signature': `v0=${sign(`v0:${seconds}:`).digest('hex')}`,
      }
    case 'shopify':
      return { 'X-Shopify-Hmac-Sha256': sign().digest('base64') }
    case 'hmac':
      return { [options.header ?? 'X-Signature']: sign().digest('hex') }
  }
}
