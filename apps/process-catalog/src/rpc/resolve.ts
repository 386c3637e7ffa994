import type { ResolveService } from '@automation/contract/catalog/v1/resolve'
import { notFound } from '@automation/errors'
import { installsProcessId, type Handlers } from '@automation/rpc'
import { serviceOrTeam } from '../caller.ts'
import type { Catalog } from '../catalog.ts'
import { readInstallSpec } from '../store/installs.ts'
import { isUuid } from '../identifier.ts'
import { readRunSpec } from '../store/run-spec.ts'
import { isTeamSlug } from '../team-slug.ts'

/** What a name stands for when it is run, for execution. */
export function resolveHandlers({ store, box, revisions }: Catalog): Handlers<typeof ResolveService> {
  return {
    async resolveRun(request, context) {
      const { team, knownRevision } = request
      serviceOrTeam(context, team)
      if (!isTeamSlug(team)) throw notFound('team')
      if (request.identifier === installsProcessId) {
        const spec = isUuid(request.tag) ? await readInstallSpec(store, team, request.tag) : undefined
        if (spec === undefined) throw notFound('process')
        return { outcome: { case: 'spec', value: spec } }
      }
      if (knownRevision !== 0n && (await revisions.ask(team)) === knownRevision)
        return { outcome: { case: 'unchanged', value: {} } }
      return { outcome: { case: 'spec', value: await readRunSpec(store, box, request) } }
    },
  }
}
