import { AuditService, AuditType } from '@automation/contract/audit/v1/audit'
import { ReferenceService, ResolveService, RunSpecSchema } from '@automation/contract/catalog/v1/resolve'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import { Language } from '@automation/contract/common/v1/language'
import { notFound } from '@automation/errors'
import { served, type Handlers, type ServedService } from '@automation/rpc'
import { create, type DescService } from '@bufbuild/protobuf'
import type { Ledger } from './ledger.ts'

/** What runs. */
const processIds: Record<string, string> = {
  work: '01900000-0000-7000-8000-000000000001',
  mend: '01900000-0000-7000-8000-000000000002',
}
export const processSlug = 'work'
/** Runs after each failed run of the team `demo`. */
const handlerSlug = 'mend'
/** Its clocks go on while the world lasts. */
export const zoneId = 'Europe/Berlin'

export const teams = ['demo', 'other']
/** The team that has an error handler. */
export const mendingTeam = 'demo'

/** A catalog with two processes, of every team, that remembers what was done. */
export function simulatedCatalog(ledger: Ledger): ServedService[] {
  const records = part(AuditService, { appendAuditRecords: (request) => keep(request.records, ledger) })
  return [resolving, referring, teaming, limiting, records]
}

const resolving = served(ResolveService, {
  resolveRun: ({ team, identifier, knownRevision }) => {
    const known = Object.entries(processIds).find((names) => names.includes(identifier))
    if (known === undefined) throw notFound('process')
    const revision = 1n
    if (knownRevision === revision) return { outcome: { case: 'unchanged' as const, value: {} } }
    const [slug, processId] = known
    const process = { processId, processName: slug, processSlug: slug, timeZone: zoneId, revision, team }
    const code = { language: Language.JAVASCRIPT, sourceCode: 'return 1', digest: slug }
    return { outcome: { case: 'spec' as const, value: create(RunSpecSchema, { ...process, ...code }) } }
  },
})

const referring = served(ReferenceService, {
  lookUpReferences: ({ references }) => ({ references: references.map(() => ({})) }),
})

const teaming = part(TeamService, {
  getTeam: (_, { principal: { team } }) => {
    const errorHandlerConfig = team === mendingTeam ? { processSlug: handlerSlug, tag: '' } : undefined
    return { slug: team, name: team, zoneId, errorHandlerConfig }
  },
})

// No team has limits of its own, and none is suspended.
const limiting = part(TeamLimitService, { listTeamLimits: () => ({ revision: 1n }) })

/** Of a service what this world asks for. */
function part<S extends DescService>(service: S, handlers: Partial<Handlers<S>>): ServedService {
  return { service, handlers: handlers as Handlers<DescService> }
}

/** Each is kept once, however often it comes. */
function keep(records: { id: string; type: AuditType; event: string; entityId: string }[], ledger: Ledger) {
  for (const { type, event, entityId } of records)
    if (type === AuditType.EXECUTION && event === 'started') ledger.recorded.add(entityId)
  return {}
}
