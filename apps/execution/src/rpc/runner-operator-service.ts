import type { RunnerOperatorService } from '@automation/contract/execution/v1/runner_operator'
import { isUuid } from '@automation/contract/forms'
import { Failure, notFound } from '@automation/errors'
import { principalIn, type Handlers } from '@automation/rpc'
import type { Queries } from '../store/connections.ts'
import { askToDrain, readRunners } from '../store/runners.ts'

/** The runners as an operator sees and drains them. */
export function runnerOperatorService({
  reads,
  hot,
}: Record<'reads' | 'hot', Queries>): Handlers<typeof RunnerOperatorService> {
  return {
    async listRunners(_, context) {
      principalIn(context, 'operator')
      return { runners: await readRunners(reads) }
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
