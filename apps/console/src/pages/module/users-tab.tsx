import { useModuleUsers } from '../../api/queries/modules.ts'
import layout from '../../parts/layout.module.css'
import { Answer } from '../../parts/page-states.tsx'
import { SourceUsers } from '../../parts/source-users.tsx'

/** Who imports a module. */
export function UsersTab({ team, id }: { team: string; id: string }) {
  const users = useModuleUsers(team, id)
  return (
    <Answer of={users} what="users">
      {({ data, inOtherTeams }) => (
        <div className={layout.tight}>
          {inOtherTeams > 0 && (
            <p>
              {inOtherTeams} {inOtherTeams === 1 ? 'source' : 'sources'} of other teams that inherit it import it, too.
            </p>
          )}
          <SourceUsers team={team} users={data} none="Nothing imports it" />
        </div>
      )}
    </Answer>
  )
}
