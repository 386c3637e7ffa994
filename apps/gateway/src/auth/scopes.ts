import { allows, type Scope } from '@automation/contract/scopes'
import { Failure } from '@automation/errors'
import type { Principal } from '@automation/rpc'

/** Failure scope_missing, where the caller's token does not allow what asks for `wanted`. */
export function requireScope({ scope = '' }: Principal, wanted: Scope): void {
  if (allows(scope, wanted)) return
  const has = scope === '' ? 'has none that this service knows' : `has ${scope}`
  const text = `This needs the scope ${wanted}; the access token ${has}. Use a token that was given ${wanted}`
  throw new Failure('permission_denied', 'scope_missing', text, { requiredScope: wanted })
}

/** Whether the caller may see credentials that records show. */
export function seesCredentials({ scope = '' }: Principal): boolean {
  return allows(scope, 'build')
}

/** Whether the caller may see what is stored and what runs were given: who only starts runs is told their outcome. */
export function mayRead({ scope = '' }: Principal): boolean {
  return allows(scope, 'read')
}
