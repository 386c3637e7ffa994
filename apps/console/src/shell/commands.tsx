import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useEffectEvent, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { icons } from '../parts/icons.tsx'
import { places } from './places.ts'
import { isSingleKey } from './shortcuts.ts'
import styles from './palette.module.css'

const Palette = lazy(() => import('./palette.tsx'))
const ShortcutList = lazy(() => import('./shortcut-list.tsx'))

/** How long `g` waits for its letter. */
const LETTER_MS = 1500

/** What the keyboard does on every page: the palette, the list of keys, and `g` with a letter. */
export function Commands({ team }: { team: string }) {
  const navigate = useNavigate()
  const [open, setOpen] = useState<'palette' | 'keys'>()
  const [goSince, setGoSince] = useState(0)
  const press = useEffectEvent((event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      // Where the session has ended it would lie over the sign-in.
      if (document.querySelector('[inert] header') !== null) return
      setOpen(open === 'palette' ? undefined : 'palette')
      return
    }
    if (!isSingleKey(event)) return
    const place =
      event.timeStamp - goSince < LETTER_MS && goSince > 0
        ? places.find(({ letter }) => letter === event.key)
        : undefined
    setGoSince(event.key === 'g' && place === undefined ? event.timeStamp : 0)
    if (place !== undefined) void navigate({ to: place.to, params: { team } })
    else if (event.key === '?') setOpen('keys')
    else if (event.key !== 'g') return
    event.preventDefault()
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent) => press(event)
    // Before those of the page, which have letters of their own.
    window.addEventListener('keydown', listener, true)
    return () => window.removeEventListener('keydown', listener, true)
  }, [])
  const close = () => setOpen(undefined)
  return (
    <>
      <Button className={styles.open} onClick={() => setOpen('palette')} aria-keyshortcuts="Control+K">
        <icons.search />
        <span className={styles.word}>Search</span> <kbd>Ctrl K</kbd>
      </Button>
      <Suspense fallback={null}>
        {open === 'palette' && <Palette team={team} onClose={close} />}
        {open === 'keys' && <ShortcutList onClose={close} />}
      </Suspense>
    </>
  )
}
