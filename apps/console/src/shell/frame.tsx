import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { TeamLiveRegion } from '../live/team-live.tsx'
import { giveUpUnsaved, isAnythingUnsaved } from '../parts/ask-before-leaving.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { icons } from '../parts/icons.tsx'
import { useSession } from '../session/session-context.ts'
import { signOut } from '../session/session.ts'
import { forgetKept, keepList } from '../session/kept-here.ts'
import { Commands } from './commands.tsx'
import { places } from './places.ts'
import { ThemeButton } from './theme.tsx'
import { useToast } from './toasts.tsx'
import styles from './frame.module.css'

/** What is around every page of a team: the way to the others, the team, the theme, the session. */
export function Frame() {
  const { team } = useParams({ from: '/t/$team' })
  const [isOpen, setOpen] = useState(false)
  // The console starts with it the next time.
  useEffect(() => keepList('team', [team]), [team])
  return (
    <div className={styles.frame}>
      <a href="#content" className={styles.skip}>
        Skip to the content
      </a>
      <header className={styles.top}>
        <Button
          look="quiet"
          className={styles.menu}
          aria-expanded={isOpen}
          aria-controls="navigation"
          aria-label="Menu"
          onClick={() => setOpen(!isOpen)}
        >
          <icons.menu />
        </Button>
        <TeamChoice team={team} />
        <span className={styles.spring} />
        <Commands team={team} />
        <ThemeButton />
        <SignOutButton />
      </header>
      <nav id="navigation" aria-label="Main" className={`${styles.side} ${isOpen ? styles.open : ''}`}>
        {places.map(({ to, icon, name }) => {
          const Icon = icons[icon]
          return (
            <Link
              key={to}
              to={to}
              params={{ team }}
              activeOptions={{ exact: to === '/t/$team', includeSearch: false }}
              onClick={() => setOpen(false)}
            >
              <Icon />
              {name}
            </Link>
          )
        })}
      </nav>
      <main id="content" tabIndex={-1} className={styles.content}>
        <TeamLiveRegion team={team}>
          <Outlet />
        </TeamLiveRegion>
      </main>
    </div>
  )
}

function TeamChoice({ team }: { team: string }) {
  const { teams } = useSession()
  const navigate = useNavigate()
  if (teams.length < 2) return <strong className={styles.team}>{teams[0]?.name ?? team}</strong>
  return (
    <select
      aria-label="Team"
      className={styles.team}
      value={team}
      onChange={(event) => void navigate({ to: '/t/$team', params: { team: event.target.value } })}
    >
      {teams.map(({ slug, name }) => (
        <option key={slug} value={slug}>
          {name ?? slug}
        </option>
      ))}
    </select>
  )
}

function SignOutButton() {
  const { name } = useSession()
  const queries = useQueryClient()
  const say = useToast()
  const [isAsking, setAsking] = useState(false)
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: (issuer) => {
      giveUpUnsaved()
      forgetKept()
      queries.clear()
      window.location.assign(issuer ?? '/')
    },
    onError: say,
  })
  return (
    <>
      <Button
        look="quiet"
        onClick={() => (isAnythingUnsaved() ? setAsking(true) : leave.mutate())}
        isBusy={leave.isPending}
        title={`Signed in as ${name}`}
      >
        Sign out
      </Button>
      <Confirm
        title="Sign out without saving?"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        verb="Sign out"
        isBusy={leave.isPending}
        onConfirm={() => leave.mutate()}
      >
        What you typed on this page is not saved, and would be lost.
      </Confirm>
    </>
  )
}
