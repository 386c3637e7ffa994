import { useParams } from '@tanstack/react-router'
import { useTeam } from '../../api/queries/team.ts'
import layout from '../../parts/layout.module.css'
import { Answer } from '../../parts/page-states.tsx'
import { Page } from '../../parts/page.tsx'
import { LimitsCard } from './limits-card.tsx'
import { TeamForm } from './team-form.tsx'

/** The team: its name, zone, parents and error handler, and what it may have. */
export function SettingsPage() {
  const { team } = useParams({ from: '/t/$team/settings' })
  const settings = useTeam(team)
  return (
    <Page title="Settings" call={{ path: '/team' }}>
      <div className={`${layout.columns} ${layout.broad}`}>
        <Answer of={settings} what="team">
          {({ record, etag }) => <TeamForm key={team} team={team} before={record} etag={etag} />}
        </Answer>
        <LimitsCard team={team} />
      </div>
    </Page>
  )
}
