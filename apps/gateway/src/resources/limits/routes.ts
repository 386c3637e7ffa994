import { TeamService } from '@automation/contract/catalog/v1/team'
import type { Limit } from '@automation/contract/common/v1/limit'
import { ExecutionService } from '@automation/contract/execution/v1/execution'
import { SandboxService } from '@automation/contract/sandbox/v1/sandbox'
import { ScheduleService } from '@automation/contract/schedule/v1/schedule'
import { StorageService } from '@automation/contract/storage/v1/storage'
import { asFailure } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import type { CallsPerSecond } from '../../auth/call-limits.ts'
import type { GatewayConfig } from '../../config.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import type { OpenStreams } from '../../streams/open-streams.ts'
import { limitsRecord, presentAgentPool, presentLimit } from './record.ts'

const DESCRIPTION = `Pools and limits. \`processes\`, \`modules\`, \`variables\` and \`schedules\` are those of the team, \`versions\` those
of one process or module. Each gateway allows so many \`streams\`, and tells its own. Limits of a service that is away
are left out.`

interface LimitRoutesDependencies {
  neighbours: Neighbours
  config: GatewayConfig
  streams: OpenStreams
  callsPerSecond: CallsPerSecond
}

/** What a team may have, and has. */
export function limitRoutes(
  api: RestApi,
  { neighbours, config, streams, callsPerSecond }: LimitRoutesDependencies,
): void {
  const executions = neighbours.client(ExecutionService)
  const catalog = neighbours.client(TeamService)
  const schedules = neighbours.client(ScheduleService)
  const storage = neighbours.client(StorageService)
  const sandboxes = neighbours.client(SandboxService)

  api.add(
    {
      method: 'get',
      scope: 'read',
      path: '/limits',
      tag: 'Team',
      summary: 'Read what the team may have, with what is in use, and the pools of runners',
      success: { status: 200, description: DESCRIPTION, schema: limitsRecord },
    },
    async ({ team, context }) => {
      const [{ pools }, ...kept] = await Promise.all([
        executions.listAgentPools({}, context),
        executions.getLimits({}, context),
        whereThere(catalog.getLimits({}, context)),
        whereThere(schedules.getLimits({}, context)),
        whereThere(storage.getLimits({}, context)),
        whereThere(sandboxes.getLimits({}, context)),
      ])
      const here = { name: 'streams', allowed: streams.allowed, inUse: streams.openOf(team) }
      const perSecond = callsPerSecond(team)
      const calls = perSecond === undefined ? [] : [{ name: 'callsPerSecond', allowed: perSecond }]
      const limits = [...kept.flatMap((each) => each.limits.map(presentLimit)), here, ...calls]
      return { body: { headerPrefix: config.headerPrefix, agentPools: pools.map(presentAgentPool), limits } }
    },
  )
}

/** Limits of a service that an installation may be without: none while it does not answer. */
export async function whereThere(asked: Promise<{ limits: Limit[] }>): Promise<{ limits: Limit[] }> {
  try {
    return await asked
  } catch (error) {
    const { kind } = asFailure(error)
    if (kind === 'unavailable' || kind === 'unimplemented' || kind === 'deadline_exceeded') return { limits: [] }
    throw error
  }
}
