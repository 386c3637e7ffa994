import { createHash } from 'node:crypto'
import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import type { ExecutionSourceSchema } from '@automation/contract/execution/v1/execution'
import { Failure } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { sourceMarkOf } from '../accept/source-mark.ts'
import type { SpecName, Specs } from '../accept/specs.ts'
import { createdAtMs } from '../execution-id.ts'
import type { RecordRow } from '../store/records.ts'

/** Beside the time that a run has for its start, in ms: clocks differ, and a source may be written while it is read. */
const offsetsMs = [0, -2000, 2000]

/**
 * The source that a run ran: that of its draft or its version, also of a deleted one, or what the process had then, as long
 * as that is kept. Of a version's run whose other modules are not kept only those with a version are told. Failure:
 * source_not_kept.
 */
export async function sourceOf(
  specs: Specs,
  team: string,
  row: RecordRow,
): Promise<MessageInitShape<typeof ExecutionSourceSchema>> {
  const name = { team, identifier: row.processId, tag: row.versionId ?? '' }
  const now = await specs.resolveAgain(name).catch((error: unknown) => {
    if (error instanceof Failure && error.kind === 'not_found') throw notKept('Its version is gone')
    throw error
  })
  const ran = hasRun(row, now) ? now : await formerSpec(specs, name, now, row)
  if (ran !== undefined) return shown(row, ran)
  if (row.versionId === null)
    throw notKept('The process or a module was changed often since, or a module is gone; runs of versions keep theirs')
  return shown(row, { ...now, modules: now.modules.filter(({ tag }) => tag !== undefined) })
}

function hasRun({ sourceMark }: RecordRow, spec: RunSpec): boolean {
  return sourceMark === String(sourceMarkOf(spec))
}

async function formerSpec(specs: Specs, name: SpecName, now: RunSpec, row: RecordRow): Promise<RunSpec | undefined> {
  if (row.sourceMark === null) return undefined
  const atMs = row.startedAt?.getTime() ?? createdAtMs(row.id)
  for (const offsetMs of offsetsMs) {
    const spec = await specs.resolveAsOf(name, now, new Date(atMs + offsetMs))
    if (spec !== undefined && hasRun(row, spec)) return spec
  }
  return undefined
}

function shown(row: RecordRow, spec: Pick<RunSpec, 'language' | 'sourceCode' | 'modules'>) {
  return {
    language: spec.language,
    sourceCode: spec.sourceCode,
    versionId: row.trial ? undefined : (row.versionId ?? undefined),
    digest: createHash('sha256').update(spec.sourceCode).digest('hex'),
    modules: spec.modules.map(({ name, versionId, tag, sourceCode }) => ({ name, versionId, tag, sourceCode })),
  }
}

function notKept(why: string): Failure {
  return new Failure('not_found', 'source_not_kept', `The source that ran is not kept. ${why}`)
}
