import type { ProcessSchema } from '@automation/contract/catalog/v1/process'
import { WarningSchema, type Warning } from '@automation/contract/common/v1/warning'
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { hasVersionOrAlias } from './version-names.ts'
import type { Store } from './store.ts'

type SavedProcess = Pick<MessageInitShape<typeof ProcessSchema>, 'id' | 'settings'>

/**
 * What is to be told of the form of a process that was saved: that it runs a version which is not there. Nothing where that
 * can't be said: the save is done.
 */
export async function formWarnings(store: Store, { id = '', settings }: SavedProcess): Promise<Warning[]> {
  const { formsEnabled, formsTag } = settings ?? {}
  if (!formsEnabled || !formsTag) return []
  const isThere = store.read((rows) => hasVersionOrAlias(rows, id, formsTag))
  if (await isThere.catch(() => true)) return []
  const message = `The process has no version or alias "${formsTag}": until there is one, its form answers 404`
  return [create(WarningSchema, { path: '/settings/formsConfig/tag', message })]
}
