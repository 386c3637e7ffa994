import type { OnRuns } from './execution-checks.ts'
import type { Plan } from './run-queue.ts'

/** What a run of a plan is started with. */
export const inputOf = ({ witness }: OnRuns, plan: Plan) => ({ parameters: { witness: witness.url, plan } })
