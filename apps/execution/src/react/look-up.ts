import { lookup as lookupName, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { abortable } from '@automation/service'
import type { Egress } from './egress.ts'

/** The addresses of a name; errors have codes of `dns`. */
export type Lookup = (hostname: string, signal: AbortSignal) => Promise<string[]>

const limits = { timeout: 3000, tries: 2 }
// What names servers do not know may be known to the machine itself: its list of hosts, its domains to search.
const unknown = ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']

/**
 * Asks names servers itself, IPv4 first: look-ups of the system hold a thread of the process until they end, and those
 * of a name that anybody may have written down may be slow on purpose. Short names are the system's.
 */
const lookUp: Lookup = async (hostname, signal) => {
  if (!hostname.replace(/\.$/, '').includes('.')) return bySystem(hostname, signal)
  const resolver = new Resolver(limits)
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (found.length > 0) return found
    const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []))
    if (failures.every(isUnknown)) return await bySystem(hostname, signal)
    throw Object.assign(new Error('could not be looked up', { cause: failures[0] }), { code: 'EAI_AGAIN' })
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

function isUnknown(error: Error & { code?: string }): boolean {
  return unknown.includes(error.code ?? '')
}

let last: Promise<void> = Promise.resolve()

/** One at a time: of the two threads that Node has for look-ups the other one is left to the rest of the process. */
async function bySystem(hostname: string, signal: AbortSignal): Promise<string[]> {
  const before = last
  const { promise, resolve: next } = Promise.withResolvers<void>()
  last = promise
  await before
  try {
    signal.throwIfAborted()
    const found = await lookupName(hostname, { all: true, order: 'ipv4first' })
    return found.map(({ address }) => address)
  } finally {
    next()
  }
}

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
  // Not every look-up can be cut off.
  const [first, ...others] = await abortable(lookup(host, signal), signal)
  if (first === undefined) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
  const addresses: [string, ...string[]] = [first, ...others]
  if (!addresses.every((address) => egress.allows(address))) throw new NotAllowed()
  return addresses
}
