import { isIP } from 'node:net'
import type { Egress } from './egress.ts'
import { lookUp, type Lookup } from './look-up.ts'

/** An address that callbacks may not go to. */
export class NotAllowed extends Error {
  override readonly name = 'NotAllowed'

  constructor() {
    super('its address is private, and the setting EGRESS_ALLOW does not name it')
  }
}

/**
 * The addresses of a URL's host, looked up once. Throws NotAllowed when one of them is not allowed: a name that leads
 * both outside and inside is not one to trust.
 */
export async function resolveAllowed(
  hostname: string,
  egress: Egress,
  signal: AbortSignal,
  lookup: Lookup = lookUp,
): Promise<[string, ...string[]]> {
  if (!egress.allows(hostname)) throw new NotAllowed()
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0) return [host]
  signal.throwIfAborted()
  const [first, ...others] = await orAborted(lookup(host, signal), signal)
  if (first === undefined) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
  const addresses: [string, ...string[]] = [first, ...others]
  if (!addresses.every((address) => egress.allows(address))) throw new NotAllowed()
  return addresses
}

/** Not every look-up can be cut off: nobody waits for it any more. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason as Error)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
