import { createHash } from 'node:crypto'
import type { ExecutionSourceSchema } from '@automation/contract/execution/v1/execution'
import { Failure } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { sourceMarkOf } from '../accept/source-mark.ts'
import type { Specs } from '../accept/specs.ts'
import type { RecordRow } from '../store/records.ts'

/**
 * The source that a run ran: that of its draft or its version, also of a deleted one, and the current one where it has not changed since.
 * Modules that it names without a version are told only where none has changed. Failure: source_not_kept.
 */
export async function sourceOf(
  specs: Specs,
  team: string,
  row: RecordRow,
): Promise<MessageInitShape<typeof ExecutionSourceSchema>> {
  const spec = await specs
    .resolveAgain({ team, identifier: row.processId, tag: row.versionId ?? '' })
    .catch((error: unknown) => {
      if (error instanceof Failure && error.kind === 'not_found') throw notKept('Its version is gone')
      throw error
    })
  const isSame = row.sourceMark === String(sourceMarkOf(spec))
  if (row.versionId === null && !isSame)
    throw notKept('The source of the process or of a module has changed since; runs of versions keep theirs')
  const modules = spec.modules.filter(({ tag }) => isSame || tag !== undefined)
  return {
    language: spec.language,
    sourceCode: spec.sourceCode,
    versionId: row.trial ? undefined : (row.versionId ?? undefined),
    digest: createHash('sha256').update(spec.sourceCode).digest('hex'),
    modules: modules.map(({ name, versionId, tag, sourceCode }) => ({ name, versionId, tag, sourceCode })),
  }
}

function notKept(why: string): Failure {
  return new Failure('not_found', 'source_not_kept', `The source that ran is not kept. ${why}`)
}
