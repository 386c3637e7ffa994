import { useNavigate } from '@tanstack/react-router'
import { useId, useState, type KeyboardEvent } from 'react'
import { useProcessChoices } from '../api/queries/executions.ts'
import { Dialog } from '../parts/dialog.tsx'
import { firstFocus } from '../parts/first-focus.ts'
import { icons } from '../parts/icons.tsx'
import { matchingPlaces, type PaletteItem } from '../rules/palette-items.ts'
import { places } from './places.ts'
import { recentVisits } from './visits.ts'
import styles from './palette.module.css'

interface PaletteProps {
  team: string
  /** What stands in it at first. */
  text: string
  onClose: () => void
}

/** Takes an execution's id, an address, a process, the name of a page, a cron or a curl command, and leads there. */
export default function Palette({ team, text, onClose }: PaletteProps) {
  return (
    <Dialog title="Go to" isOpen onClose={onClose}>
      <Search team={team} text={text} onClose={onClose} />
    </Dialog>
  )
}

function showItem(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' })
}

function Search({ team, text: textAtFirst, onClose }: PaletteProps) {
  const navigate = useNavigate()
  const listId = useId()
  const [text, setText] = useState(textAtFirst)
  const [at, setAt] = useState(0)
  const { data: processes = [] } = useProcessChoices(team)
  const [visits] = useState(() => recentVisits().filter((visit) => visit.team === team))
  const items = matchingPlaces(text, { processes, visits, pages: places })
  const current = Math.min(at, items.length - 1)

  const go = (item: PaletteItem | undefined) => {
    if (item === undefined) return
    onClose()
    if (item.kind === 'id') void navigate({ to: '/x/$executionId', params: { executionId: item.id } })
    else if (item.kind === 'page') void navigate({ to: item.to, params: { team } })
    else if (item.kind === 'execution')
      void navigate({ to: '/t/$team/executions/$executionId', params: { team, executionId: item.id } })
    else if (item.kind === 'process')
      void navigate({ to: '/t/$team/processes/$slug/edit', params: { team, slug: item.slug } })
    else if (item.kind === 'runs')
      void navigate({ to: '/t/$team/executions', params: { team }, search: { process: item.slug } })
    else if (item.kind === 'cron')
      void navigate({
        to: '/t/$team/processes/$slug/schedules',
        params: { team, slug: item.slug },
        search: { cron: item.cron },
      })
    else if (item.kind === 'call')
      void navigate({
        to: item.call.kind === 'webhook' ? '/t/$team/processes/$slug/webhook' : '/t/$team/processes/$slug/edit',
        params: { team, slug: item.call.slug },
        state: { call: item.call },
      })
    else if (item.kind === 'search')
      void navigate({ to: '/t/$team/executions', params: { team }, search: { q: item.q } })
  }
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && items.length > 0) setAt((current + step + items.length) % items.length)
    else if (event.key === 'Enter') go(items[current])
    else return
    event.preventDefault()
  }
  return (
    <div className={styles.palette}>
      <input
        ref={firstFocus}
        role="combobox"
        aria-label="An execution's id, a process, a page, a cron, a curl command, or words to search executions for"
        aria-expanded={items.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={current >= 0 ? `${listId}-${current}` : undefined}
        autoComplete="off"
        spellCheck={false}
        placeholder="Execution id, process, page, cron, curl or words"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setAt(0)
        }}
        onKeyDown={onKey}
      />
      <div id={listId} role="listbox" aria-label="Where to go" className={styles.list}>
        {items.map((item, index) => {
          const Icon = icons[item.icon]
          return (
            <button
              key={item.key}
              ref={index === current ? showItem : undefined}
              id={`${listId}-${index}`}
              type="button"
              role="option"
              tabIndex={-1}
              aria-selected={index === current}
              className={styles.item}
              onClick={() => go(item)}
              onMouseMove={() => setAt(index)}
            >
              <Icon />
              <span className={styles.name}>{item.name}</span>
              <span className={styles.note}>{item.note}</span>
            </button>
          )
        })}
      </div>
    </div>
  )
}
