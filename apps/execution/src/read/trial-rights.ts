import { isDraftId } from '@automation/contract/drafts'
import { allows } from '@automation/contract/scopes'
import { Failure, notFound } from '@automation/errors'
import type { Principal } from '@automation/rpc'

/**
 * Who runs a trial again runs code that is not saved, for which users need the scope build; and no tag that a caller names is
 * that of a draft. Failures: scope_missing, version_not_found.
 */
export function requireTrialRights(
  { trial }: { trial: boolean },
  { tag }: { tag?: string },
  { role, scope = '' }: Principal,
): void {
  if (tag !== undefined && isDraftId(tag)) throw notFound('version')
  if (!trial || tag !== undefined || role !== 'user' || allows(scope, 'build')) return
  const text = 'It was a trial of a draft: to run it again needs the scope build. Use a token that was given build'
  throw new Failure('permission_denied', 'scope_missing', text, { requiredScope: 'build' })
}
