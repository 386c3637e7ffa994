import { ResolveService, RunSpecSchema } from '@automation/contract/catalog/v1/resolve'
import { Language } from '@automation/contract/common/v1/language'
import { notFound } from '@automation/errors'
import { served } from '@automation/rpc'
import { create } from '@bufbuild/protobuf'

/** The one process that there is. */
export const processId = '01900000-0000-7000-8000-000000000001'
export const processSlug = 'work'
/** Its clocks go on while the world lasts. */
export const zoneId = 'Europe/Berlin'

/** A catalog with one process, of every team. */
export const catalogOfWorld = served(ResolveService, {
  resolveRun: ({ team, identifier, knownRevision }) => {
    if (identifier !== processId && identifier !== processSlug) throw notFound('process')
    const revision = 1n
    if (knownRevision === revision) return { outcome: { case: 'unchanged' as const, value: {} } }
    const process = { processId, processName: processSlug, processSlug, timeZone: zoneId, revision, team }
    const code = { language: Language.JAVASCRIPT, sourceCode: 'return 1', digest: processSlug }
    return { outcome: { case: 'spec' as const, value: create(RunSpecSchema, { ...process, ...code }) } }
  },
})
