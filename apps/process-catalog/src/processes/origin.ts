import type { Origin } from '@automation/contract/common/v1/origin'
import { Faults } from '@automation/errors/faults'
import { limits } from '../fields/limits.ts'
import { text } from '../fields/text.ts'

/** Where a source comes from, as JSON text; null where nothing is said of it. Fails with invalid `/origin/…`. */
export function originText(origin: Origin | undefined): string | null {
  const { repository, commit, digest } = origin ?? {}
  const shown = { repository: repository && withoutCredentials(repository), commit, digest }
  const given = Object.entries(shown).filter(([, value]) => value !== undefined && value !== '')
  const faults = new Faults()
  for (const [name, value] of given) faults.of(() => text(`/origin/${name}`, value ?? '', limits.originCharacters))
  faults.check()
  return given.length === 0 ? null : JSON.stringify(Object.fromEntries(given))
}

/**
 * An address without what it signs in with: pipelines know their repository by one that has a token, and whoever reads a
 * record sees its origin. Of `ssh://git@host` the user stays, as it is part of the address.
 */
function withoutCredentials(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?([^/?#\\]*)@/i, (_, scheme: string | undefined, given: string) => {
    const [user = ''] = given.split(':', 1)
    return /https?:/i.test(scheme ?? '') ? `${scheme}` : `${scheme ?? ''}${user}@`
  })
}
