import { invalid } from '@automation/errors'
import { Faults } from '@automation/errors/faults'
import { isAddressRange } from '@automation/service'
import { limits } from './limits.ts'

/** Addresses and ranges of them (CIDRs) that somebody may call from; else invalid, each wrong one with its path. */
export function addressRanges(path: string, entries: string[]): string[] {
  if (entries.length > limits.addressCount) throw invalid(path, `must have at most ${limits.addressCount} entries`)
  const faults = new Faults()
  for (const [index, entry] of entries.entries())
    if (entry.length > limits.addressCharacters || !isAddressRange(entry))
      faults.add(`${path}/${index}`, 'must be an address or a CIDR, such as 203.0.113.0/24 or 2001:db8::/32')
  faults.check()
  return entries
}
