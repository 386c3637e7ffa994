import type { RunnerDemandService } from '@automation/contract/runner/v1/demand'
import { invalid } from '@automation/errors'
import { principalIn, type Handlers } from '@automation/rpc'
import type { RunLimits } from '../run-limits.ts'
import type { KnownPools } from '../dispatch/known-pools.ts'
import type { RunnerCapacity } from '../dispatch/runner-capacity.ts'
import { readLivingRunners, readWaitingTeams } from '../store/demand.ts'
import type { Queries } from '../store/connections.ts'

interface DemandContext {
  reads: Queries
  capacity: RunnerCapacity
  knownPools: KnownPools
  limits: RunLimits
}

/** The runners of a pool and the runs that wait for some, for whoever starts runners. */
export function demandService({
  reads,
  capacity,
  knownPools,
  limits,
}: DemandContext): Handlers<typeof RunnerDemandService> {
  return {
    getDemand: async (request, context) => {
      principalIn(context, 'service')
      const { pool } = request
      if (!knownPools.all.includes(pool)) throw invalid('/pool', 'is no pool of this system', 'unknown_pool')
      if (request.capacity !== undefined) capacity.report(pool, request.capacity)
      const [sessions, waiting] = await Promise.all([
        readLivingRunners(reads, [pool]),
        readWaitingTeams(reads, pool, limits.runningOfAll, Date.now()),
      ])
      return { sessions, waiting }
    },
  }
}
