import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useEffectEvent, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { icons } from '../parts/icons.tsx'
import { idIn } from '../rules/id-in.ts'
import { places } from './places.ts'
import { isSingleKey, isTyping } from './shortcuts.ts'
import styles from './palette.module.css'

const Palette = lazy(() => import('./palette.tsx'))
const ShortcutList = lazy(() => import('./shortcut-list.tsx'))

/** How long `g` waits for its letter. */
const LETTER_MS = 1500

/** How long a text may be that is pasted beside a field. */
const PASTED_MAX = 20_000

/** What the keyboard does on every page: the palette, the list of keys, `g` with a letter, and what is pasted beside fields. */
export function Commands({ team }: { team: string }) {
  const navigate = useNavigate()
  const [open, setOpen] = useState<'palette' | 'keys'>()
  const [pasted, setPasted] = useState('')
  const [goSince, setGoSince] = useState(0)
  const press = useEffectEvent((event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      // Where the session has ended it would lie over the sign-in.
      if (document.querySelector('[inert] header') !== null) return
      setPasted('')
      setOpen(open === 'palette' ? undefined : 'palette')
      return
    }
    const isPaletteComing = open === 'palette' && document.querySelector('dialog[open]') === null
    if (isPaletteComing && event.key.length === 1 && !event.ctrlKey && !event.metaKey) {
      // What is typed before the palette is loaded is meant for it.
      event.preventDefault()
      setPasted(pasted + event.key)
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
  const paste = useEffectEvent((event: ClipboardEvent) => {
    const text = event.clipboardData?.getData('text/plain').trim() ?? ''
    const isBusy = isTyping(event.target) || document.querySelector('dialog[open], [inert] header') !== null
    if (isBusy || text === '' || text.length > PASTED_MAX) return
    event.preventDefault()
    const executionId = idIn(text)
    if (executionId !== undefined) return void navigate({ to: '/x/$executionId', params: { executionId } })
    setPasted(text)
    setOpen('palette')
  })
  useEffect(() => {
    const listener = (event: ClipboardEvent) => paste(event)
    window.addEventListener('paste', listener)
    return () => window.removeEventListener('paste', listener)
  }, [])
  useEffect(() => {
    const listener = (event: KeyboardEvent) => press(event)
    // Before those of the page, which have letters of their own.
    window.addEventListener('keydown', listener, true)
    return () => window.removeEventListener('keydown', listener, true)
  }, [])
  // A dialog is told late that it was closed, when the other may be open.
  const close = (which: typeof open) => setOpen((now) => (now === which ? undefined : now))
  const openPalette = () => {
    setPasted('')
    setOpen('palette')
  }
  return (
    <>
      <Button className={styles.open} onClick={openPalette} aria-keyshortcuts="Control+K">
        <icons.search />
        <span className={styles.word}>Search</span> <kbd>Ctrl K</kbd>
      </Button>
      <Suspense fallback={null}>
        {open === 'palette' && <Palette team={team} text={pasted} onClose={() => close('palette')} />}
        {open === 'keys' && <ShortcutList onClose={() => close('keys')} />}
      </Suspense>
    </>
  )
}
