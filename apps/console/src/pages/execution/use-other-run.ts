import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { listedExecutions, type Execution } from '../../api/queries/executions.ts'
import { useToast } from '../../shell/toasts.tsx'

/**
 * Goes to the run beside this one: -1 is the row before, 1 the next one, in the list that was seen last and has it, else
 * among the newest of its process.
 */
export function useOtherRun(team: string, { id, processId }: Execution): (step: -1 | 1) => Promise<void> {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const say = useToast()
  return async (step) => {
    try {
      const ids = await listedExecutions(queries, team, { id, processId })
      const other = ids[ids.indexOf(id) + step]
      if (!ids.includes(id) || other === undefined) return say('The list that this run is in ends here')
      await navigate({ to: '/t/$team/executions/$executionId', params: { team, executionId: other } })
    } catch (error) {
      say(error instanceof Error ? error : new Error(String(error)))
    }
  }
}
