import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Dialog, DialogActions } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { icons } from '../../parts/icons.tsx'
import { readSearch, type ExecutionsSearch } from '../../rules/execution-filters.ts'
import { withRecent } from '../../rules/recent.ts'
import { keepList, keptList } from '../../session/kept-here.ts'
import styles from './executions.module.css'

interface View {
  name: string
  search: ExecutionsSearch
}

const MOST = 20

const given: readonly View[] = [
  { name: 'Failed', search: { status: 'ERROR,REJECTED' } },
  { name: 'Under way', search: { status: 'CREATED,QUEUED,DEQUEUED,RUNNING' } },
]

/** Filters under a name, kept in this browser. */
export function SavedViews({ team, search }: { team: string; search: ExecutionsSearch }) {
  const [views, setViews] = useState(() => keptList<View>(`views:${team}`))
  const [isNaming, setNaming] = useState(false)
  const keep = (next: readonly View[]) => {
    keepList(`views:${team}`, next)
    setViews([...next])
  }
  return (
    <nav aria-label="Views" className={styles.views}>
      {[...given, ...views].map((view) => (
        <span key={view.name} className={styles.view}>
          <Link
            to="/t/$team/executions"
            params={{ team }}
            search={readSearch({ ...view.search })}
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {view.name}
          </Link>
          {views.includes(view) && (
            <button
              type="button"
              aria-label={`Forget the view ${view.name}`}
              onClick={() => keep(views.filter((one) => one !== view))}
            >
              <icons.cross size={12} />
            </button>
          )}
        </span>
      ))}
      <Button look="quiet" onClick={() => setNaming(true)}>
        <icons.plus /> Save view
      </Button>
      <Dialog title="Save these filters as a view" isOpen={isNaming} onClose={() => setNaming(false)}>
        <NameForm
          onName={(name) => {
            keep(withRecent(views, { name, search }, MOST, (view) => view.name))
            setNaming(false)
          }}
        />
      </Dialog>
    </nav>
  )
}

function NameForm({ onName }: { onName: (name: string) => void }) {
  const [name, setName] = useState('')
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        onName(name.trim())
      }}
    >
      <Field label="Name" hint="Kept in this browser until you sign out">
        <input required maxLength={40} value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <DialogActions>
        <Button type="submit" look="primary" disabled={name.trim() === ''}>
          Save
        </Button>
      </DialogActions>
    </form>
  )
}
