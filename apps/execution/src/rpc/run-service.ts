import type { RunService } from '@automation/contract/run/v1/run'
import { Failure } from '@automation/errors'
import { principalIn, type Handlers } from '@automation/rpc'
import type { Admission } from '../accept/admission.ts'
import type { NestedRuns } from '../dispatch/nested-runs.ts'
import { deepest } from '../dispatch/nesting.ts'
import type { RunRights, RunTokens } from '@automation/rpc/run-token'
import { startRequestOfRun } from './start-requests.ts'

/** What a run asks for while it runs: other processes, by its own token. */
export function runService(admission: Admission, nested: NestedRuns, tokens: RunTokens): Handlers<typeof RunService> {
  return {
    startProcess: async (call, context) => {
      const rights = deepEnough(tokens.read(principalIn(context, 'run').token, Date.now()))
      const { id, status, replayed } = await admission.accept(startRequestOfRun(call, rights, context))
      return { executionId: id, status, replayed }
    },
    runProcess: (call, context) => {
      const rights = deepEnough(tokens.read(principalIn(context, 'run').token, Date.now()))
      return nested.run(startRequestOfRun(call, rights, context), rights, context.signal)
    },
  }
}

function deepEnough(rights: RunRights): RunRights {
  if (rights.depth < deepest) return rights
  throw new Failure('failed_precondition', 'nesting_too_deep', `Processes may call each other ${deepest} deep`)
}
