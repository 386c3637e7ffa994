import { Navigate } from '@tanstack/react-router'
import { Empty } from '../parts/page-states.tsx'
import { keptList } from '../session/kept-here.ts'
import { useSession } from '../session/session-context.ts'

/** The start of the console: the team that was open last, else the first. */
export function FirstTeam() {
  const { teams } = useSession()
  const [last] = keptList<string>('team')
  const team = teams.find(({ slug }) => slug === last) ?? teams[0]
  if (team === undefined) return <Empty title="Your session names no team">Ask an operator for one.</Empty>
  return <Navigate to="/t/$team" params={{ team: team.slug }} replace />
}
