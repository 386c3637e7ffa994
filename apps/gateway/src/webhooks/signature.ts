/** How senders of webhooks sign them; all by HMAC-SHA256. */
export const SIGNING_SCHEMES = ['github', 'stripe', 'slack', 'shopify', 'hmac'] as const

export type SigningScheme = (typeof SIGNING_SCHEMES)[number]

interface Scheme {
  /** Where the signature stands unless it is said otherwise; absent: it has to be said. */
  header?: string
  /** What stands before the body in what is signed. */
  prefix(seconds: string): string
  /** The value of the header. */
  value(hmac: Buffer, seconds: string): string
  /** A header of its own for the time. */
  timeHeader?: string
}

const schemes: Record<SigningScheme, Scheme> = {
  github: { header: 'X-Hub-Signature-256', prefix: () => '', value: (hmac) => `sha256=${hmac.toString('hex')}` },
  stripe: {
    header: 'Stripe-Signature',
    prefix: (seconds) => `${seconds}.`,
    value: (hmac, seconds) => `t=${seconds},v1=${hmac.toString('hex')}`,
  },
  slack: {
    header: 'X-Slack-Signature',
    prefix: (seconds) => `v0:${seconds}:`,
    value: (hmac) => `v0=${hmac.toString('hex')}`,
    timeHeader: 'X-Slack-Request-Timestamp',
  },
  shopify: { header: 'X-Shopify-Hmac-Sha256', prefix: () => '', value: (hmac) => hmac.toString('base64') },
  hmac: { prefix: () => '', value: (hmac) => hmac.toString('hex') },
}

/** The header that a scheme has its signature in; undefined where it has none of its own. */
export function usualHeader(scheme: SigningScheme): string | undefined {
  return schemes[scheme].header
}

export interface Signing {
  scheme: SigningScheme
  /** The header of the signature. */
  header: string
  /** Unix time in ms that the request is signed at. */
  nowMs: number
  /** HMAC-SHA256 of a message under the secret. */
  sign(message: Buffer): Promise<Uint8Array>
}

/** The headers that a sender adds to a request with this body: its signature, and the time where the scheme has one. */
export async function signatureHeaders(
  body: Buffer,
  { scheme, header, nowMs, sign }: Signing,
): Promise<[name: string, value: string][]> {
  const { prefix, value, timeHeader } = schemes[scheme]
  const seconds = String(Math.floor(nowMs / 1000))
  const hmac = Buffer.from(await sign(Buffer.concat([Buffer.from(prefix(seconds)), body])))
  const signature: [string, string] = [header, value(hmac, seconds)]
  return timeHeader === undefined ? [signature] : [[timeHeader, seconds], signature]
}
