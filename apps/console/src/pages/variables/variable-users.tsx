import { useVariableUsers, type Variable } from '../../api/queries/variables.ts'
import { Dialog } from '../../parts/dialog.tsx'
import layout from '../../parts/layout.module.css'
import { Answer } from '../../parts/page-states.tsx'
import { SourceUsers } from '../../parts/source-users.tsx'

/** The sources that have the name of a variable as a word. */
export function VariableUsers({ team, variable, onClose }: { team: string; variable: Variable; onClose: () => void }) {
  const users = useVariableUsers(team, variable.id)
  return (
    <Dialog title={`Who uses ${variable.key}`} isOpen isWide onClose={onClose}>
      <Answer of={users} what="users">
        {({ data, incomplete }) => (
          <>
            <p className={layout.soft}>
              Sources that have the name as a word, in comments and texts, too.
              {incomplete && ' There are more sources than were read: the newest 10,000 are.'}
            </p>
            <SourceUsers team={team} users={data} none="No source names it" />
          </>
        )}
      </Answer>
    </Dialog>
  )
}
