// Preloaded into the replicas of a campaign: their clock and their name servers are what a file says. Tests only.
import dns from 'node:dns/promises'
import { readFileSync } from 'node:fs'

/** What the file of a replica holds, as JSON. */
export interface Surroundings {
  /** How far its wall clock is ahead, in milliseconds. */
  clockAheadMs: number
  namesAway: boolean
}

const path = process.env['AUTOMATION_E2E_SURROUNDINGS']
const lookEveryMs = 100
let now: Surroundings = { clockAheadMs: 0, namesAway: false }

if (path !== undefined) {
  const look = () => (now = JSON.parse(readFileSync(path, 'utf8')) as Surroundings)
  look()
  setInterval(look, lookEveryMs).unref()

  const RealDate = Date
  const realNow = Date.now
  RealDate.now = () => realNow() + now.clockAheadMs
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, given: [], made) => Reflect.construct(target, given.length > 0 ? given : [target.now()], made),
  })

  const { lookup } = dns
  const named = async (name: string, options: object): Promise<unknown> => {
    if (!name.endsWith('.chaos')) return lookup(name, options)
    if (now.namesAway) throw Object.assign(new Error(`getaddrinfo EAI_AGAIN ${name}`), { code: 'EAI_AGAIN' })
    return [{ address: '127.0.0.1', family: 4 }]
  }
  dns.lookup = named as typeof dns.lookup
}
