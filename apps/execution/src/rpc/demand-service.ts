import type { RunnerDemandService } from '@automation/contract/runner/v1/demand'
import { databaseFailure } from '@automation/database'
import { invalid } from '@automation/errors'
import { principalIn, type Handlers } from '@automation/rpc'
import type pg from 'pg'
import type { RunnerSupply } from '../dispatch/runner-supply.ts'
import { readLivingRunners, readWaitingTeams } from '../store/demand.ts'

export interface DemandContext {
  reads: pg.Pool
  supply: RunnerSupply
  /** The pools that there are. */
  runnerPools: string[]
  maxRunning: number
}

/** The runners of a pool and the runs that wait for some, for whoever starts runners. */
export function demandService({
  reads,
  supply,
  runnerPools,
  maxRunning,
}: DemandContext): Handlers<typeof RunnerDemandService> {
  return {
    getDemand: async (request, context) => {
      principalIn(context, 'service')
      const { pool } = request
      if (!runnerPools.includes(pool)) throw invalid('/pool', 'is no pool of this system', 'unknown_pool')
      if (request.supply !== undefined) supply.report(pool, request.supply)
      try {
        const [sessions, waiting] = await Promise.all([
          readLivingRunners(reads, pool),
          readWaitingTeams(reads, pool, maxRunning, Date.now()),
        ])
        return { sessions, waiting }
      } catch (error) {
        throw databaseFailure(error)
      }
    },
  }
}
