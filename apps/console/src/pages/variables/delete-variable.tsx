import { useDeleteVariable, useVariableUsers, type Variable } from '../../api/queries/variables.ts'
import { Deletion } from '../../parts/deletion.tsx'

/** Asks before a variable goes for good, and says how many sources name it. */
export function DeleteVariable({ team, variable, onClose }: { team: string; variable: Variable; onClose: () => void }) {
  const users = useVariableUsers(team, variable.id)
  const removal = useDeleteVariable(team)
  const total = users.data?.total ?? 0
  return (
    <Deletion
      title={`Delete the variable ${variable.key}?`}
      name={variable.key}
      id={variable.id}
      removal={removal}
      onClose={onClose}
    >
      Its value is gone for good.
      {total > 0 && ` ${total} ${total === 1 ? 'source names' : 'sources name'} it; runs of these will not find it.`}
    </Deletion>
  )
}
