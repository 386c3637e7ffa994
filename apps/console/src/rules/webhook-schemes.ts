/** How a sender signs its requests. */
export interface Scheme {
  name: string
  header: string
  /** Stands before the digest in the header. */
  prefix: string
  encoding: 'hex' | 'base64'
  /** What is signed before the body, `TIME` being seconds since 1970; empty where the body alone is signed. */
  before: string
  /** A header that carries the time, where the one of the signature does not. */
  timeHeader?: string
}

export const schemes = {
  github: { name: 'GitHub', header: 'X-Hub-Signature-256', prefix: 'sha256=', encoding: 'hex', before: '' },
  stripe: { name: 'Stripe', header: 'Stripe-Signature', prefix: 't=TIME,v1=', encoding: 'hex', before: 'TIME.' },
  slack: {
    name: 'Slack',
    header: 'X-Slack-Signature',
    prefix: 'v0=',
    encoding: 'hex',
    before: 'v0:TIME:',
    timeHeader: 'X-Slack-Request-Timestamp',
  },
  shopify: { name: 'Shopify', header: 'X-Shopify-Hmac-Sha256', prefix: '', encoding: 'base64', before: '' },
  hmac: { name: 'HMAC in a header', header: 'X-Signature', prefix: '', encoding: 'hex', before: '' },
} as const satisfies Record<string, Scheme>

export type SchemeName = keyof typeof schemes
export const schemeNames = Object.keys(schemes) as SchemeName[]

/** The headers with which a scheme sends a signature; `TIME` and `SIGNATURE` stand for the values. */
export function signatureHeaders({ header, prefix, timeHeader }: Scheme): [name: string, value: string][] {
  const signature: [string, string] = [header, `${prefix}SIGNATURE`]
  return timeHeader === undefined ? [signature] : [signature, [timeHeader, 'TIME']]
}
