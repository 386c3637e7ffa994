import { use, useEffect, useEffectEvent } from 'react'
import { isSingleKey } from '../shell/shortcuts.ts'
import { OwnDialog } from './own-dialog.ts'

/** Single keys of a page, by what they do; where a key does nothing now it gives false. */
export function useKeys(keys: Readonly<Record<string, () => unknown>>): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const act = keys[event.key]
    if (act === undefined || !isSingleKey(event)) return
    if (act() !== false) event.preventDefault()
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent) => press(event)
    window.addEventListener('keydown', listener)
    return () => window.removeEventListener('keydown', listener)
  }, [])
}

/** Does what a form is for by Ctrl+Enter, or by Command+Enter. */
export const useCtrlEnter = (act: () => void): void => useCtrl('Enter', act)

/**
 * Does something by Ctrl and a key, or by Command and the key, wherever the focus is: once for each press, and where a
 * dialog is open only for what stands in that dialog.
 */
export function useCtrl(key: string, act: () => void): void {
  const own = use(OwnDialog)
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== key.toLowerCase() || event.shiftKey || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    if (event.repeat || dialogOf(event) !== (own?.current ?? undefined)) return
    act()
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent) => press(event)
    window.addEventListener('keydown', listener)
    return () => window.removeEventListener('keydown', listener)
  }, [])
}

/** The dialog that a key is meant for; the path tells it even of one that the key has just closed. */
function dialogOf(event: KeyboardEvent): HTMLDialogElement | undefined {
  const at = event.composedPath().find((place) => place instanceof HTMLDialogElement)
  // The focus is nowhere once the button that had it is disabled.
  return at ?? [...document.querySelectorAll<HTMLDialogElement>('dialog[open]')].at(-1)
}
