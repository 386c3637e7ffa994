import type { ReferenceService, ResolveRunRequest, ResolveService } from '@automation/contract/catalog/v1/resolve'
import { Failure, invalid, notFound } from '@automation/errors'
import { installsProcessId } from '@automation/contract/installs'
import { memberIn, principalIn, type Handlers } from '@automation/rpc'
import { isTeamSlug, isUuid } from '@automation/contract/forms'
import { timestampDate } from '@bufbuild/protobuf/wkt'
import type { Catalog } from '../catalog.ts'
import { noteNeed } from '../store/deleted-versions.ts'
import { readInstallSpec } from '../store/installs.ts'
import { readReferences } from '../store/references.ts'
import { readRunSpec } from '../store/run-spec.ts'
import { TeamVariables } from '../store/team-variables.ts'

/** What a name stands for when it is run, for execution. */
export function resolveHandlers({ store, box, revisions }: Catalog): Handlers<typeof ResolveService> {
  const variables = new TeamVariables(box)
  const needDeleted = async ({ team, tag }: ResolveRunRequest) => {
    if (!isUuid(tag)) throw notFound('version')
    await noteNeed(store, team, tag)
  }
  const spec = async (request: ResolveRunRequest) => {
    const found = await readRunSpec(store, variables, request, {
      named: request.deleted ? 'deleted' : 'living',
      asOf: request.asOf && timestampDate(request.asOf),
    })
    // Who does not know of the fault would run it without variables.
    if (found.variablesFault !== undefined && !request.takesVariablesFault)
      throw new Failure('too_large', 'run_too_large', found.variablesFault)
    return { outcome: { case: 'spec' as const, value: found } }
  }
  return {
    async resolveRun(request, context) {
      const { team, knownRevision, deleted } = request
      // Services for any team, a team's own callers for theirs.
      const { role, team: own } = principalIn(context, 'service', 'user')
      if (role === 'user' && own !== team)
        throw new Failure('permission_denied', 'permission_denied', 'This call is not allowed')
      if (!isTeamSlug(team)) throw notFound('team')
      if (request.identifier === installsProcessId) {
        const install = isUuid(request.tag) ? await readInstallSpec(store, team, request.tag) : undefined
        if (install === undefined) throw notFound('process')
        return { outcome: { case: 'spec', value: install } }
      }
      if (deleted) await needDeleted(request)
      if (knownRevision !== 0n && (await revisions.ask(team)) === knownRevision)
        return { outcome: { case: 'unchanged', value: {} } }
      return spec(request)
    },
  }
}

const mostReferences = 10_000

/** What others refer to, for services. */
export function referenceHandlers({ store }: Pick<Catalog, 'store'>): Handlers<typeof ReferenceService> {
  return {
    async lookUpReferences({ references }, context) {
      principalIn(context, 'service')
      const { team } = memberIn(context)
      if (references.length > mostReferences) throw invalid('/references', `must be at most ${mostReferences}`)
      if (references.some(({ processId }) => !isUuid(processId)))
        throw invalid('/references', 'The process id is no UUID')
      const found = await readReferences(store, team, references)
      return {
        references: found.map(({ slug, versionId }) => ({
          processSlug: slug ?? '',
          versionId: versionId ?? undefined,
        })),
      }
    },
  }
}
