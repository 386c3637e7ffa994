import { lookup as lookupName, Resolver } from 'node:dns/promises'

/** The addresses of a name; errors have codes of `dns`. */
export type Lookup = (hostname: string, signal: AbortSignal) => Promise<string[]>

const limits = { timeout: 3000, tries: 2 }
// What names servers do not know may be known to the machine itself: its list of hosts, its domains to search.
const unknown = ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']

/**
 * Asks names servers itself, IPv4 first: look-ups of the system hold a thread of the process until they end, and those
 * of a name that anybody may have written down may be slow on purpose. Short names are the system's.
 */
export const lookUp: Lookup = async (hostname, signal) => {
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
