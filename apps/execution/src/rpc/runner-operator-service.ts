import type { RunnerOperatorService } from '@automation/contract/execution/v1/runner_operator'
import { isUuid } from '@automation/contract/forms'
import { Failure, notFound } from '@automation/errors'
import { principalIn, type Handlers } from '@automation/rpc'
import type { KnownPools } from '../dispatch/known-pools.ts'
import type { RunnerCapacity } from '../dispatch/runner-capacity.ts'
import type { Queries } from '../store/connections.ts'
import { askToDrain, readRunners } from '../store/runners.ts'

interface RunnerOperatorContext extends Record<'reads' | 'hot', Queries> {
  capacity: RunnerCapacity
  knownPools: KnownPools
}

/** The runners as an operator sees and drains them. */
export function runnerOperatorService({
  reads,
  hot,
  capacity,
  knownPools,
}: RunnerOperatorContext): Handlers<typeof RunnerOperatorService> {
  return {
    async listRunners(_, context) {
      principalIn(context, 'operator')
      const runners = await readRunners(reads)
      const names = new Set(runners.map(({ name }) => name))
      const poolsOnDemand = knownPools.all.flatMap((pool) => {
        const demanded = capacity.of(pool)
        if (demanded === undefined) return []
        // One that has come since is told of as it is.
        const starting = demanded.starting.filter(({ runnerName }) => !names.has(runnerName))
        return [{ pool, starting, whyNone: demanded.whyNone }]
      })
      return { runners, poolsOnDemand }
    },

    async drainRunner({ id }, context) {
      principalIn(context, 'operator')
      const asked = isUuid(id) ? await askToDrain(hot, id) : undefined
      if (asked === undefined) throw notFound('runner')
      if (!asked.canDrain) throw stays(asked.name)
      return {}
    },
  }
}

function stays(name: string): Failure {
  const text = `The runner ${name} is a part of a larger program, as with npm start: stop that one, and its runs get the time to end`
  return new Failure('failed_precondition', 'runner_stays', text)
}
