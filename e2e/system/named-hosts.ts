// Preloaded into the processes of a system: a name leads to the addresses in a file, as name servers would say it.
import { readFileSync } from 'node:fs'
import dns from 'node:dns/promises'

const { AUTOMATION_E2E_HOST: host, AUTOMATION_E2E_ADDRESSES: path = '' } = process.env
const { lookup } = dns

async function named(name: string, options: object): Promise<unknown> {
  if (host === undefined || name !== host) return lookup(name, options)
  const addresses = readFileSync(path, 'utf8').split('\n')
  return addresses.filter((line) => line !== '').map((address) => ({ address, family: 4 }))
}

dns.lookup = named as typeof dns.lookup
