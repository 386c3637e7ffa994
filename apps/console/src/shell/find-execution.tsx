import { useQuery } from '@tanstack/react-query'
import { Navigate, useParams } from '@tanstack/react-router'
import { apiOf } from '../api/client.ts'
import { ProblemError } from '../api/problem.ts'
import { Answer, Empty } from '../parts/page-states.tsx'
import { useSession } from '../session/session-context.ts'

/** Leads from an execution's id alone to its page in whichever team has it. */
export function FindExecution() {
  const { executionId } = useParams({ from: '/x/$executionId' })
  const { teams } = useSession()
  const place = useQuery({
    queryKey: ['place', executionId],
    queryFn: async () => {
      const answers = await Promise.allSettled(teams.map(({ slug }) => has(slug, executionId)))
      const place = teams.find((_, at) => answers[at]?.status === 'fulfilled' && answers[at].value)
      const failed = answers.find(({ status }) => status === 'rejected')
      if (place === undefined && failed?.status === 'rejected') throw failed.reason
      return place?.slug ?? ''
    },
  })
  return (
    <Answer of={place} what="execution">
      {(team) =>
        team === '' ? (
          <Empty title="None of your teams has this execution">
            <code>{executionId}</code>
          </Empty>
        ) : (
          <Navigate to="/t/$team/executions/$executionId" params={{ team, executionId }} replace />
        )
      }
    </Answer>
  )
}

async function has(team: string, id: string): Promise<boolean> {
  try {
    await apiOf(team).GET('/executions/{id}', { params: { path: { id } } })
    return true
  } catch (error) {
    if (error instanceof ProblemError && [403, 404].includes(error.problem.status)) return false
    throw error
  }
}
