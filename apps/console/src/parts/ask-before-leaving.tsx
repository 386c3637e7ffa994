import { useBlocker } from '@tanstack/react-router'
import { useEffect, useId } from 'react'
import { Confirm } from './confirm.tsx'

/** The forms of this page with text that is kept nowhere. */
const unsaved = new Set<string>()

export const isAnythingUnsaved = (): boolean => unsaved.size > 0

/** From now on nobody is asked: it was said that the text may be lost. */
export const giveUpUnsaved = (): void => unsaved.clear()

/** Asks before a page is left or loaded anew with what was typed there and is kept nowhere. */
export function AskBeforeLeaving({ isDirty }: { isDirty: boolean }) {
  const id = useId()
  useEffect(() => {
    if (!isDirty) return
    unsaved.add(id)
    return () => void unsaved.delete(id)
  }, [id, isDirty])
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname,
    enableBeforeUnload: () => unsaved.has(id),
    disabled: !isDirty,
    withResolver: true,
  })
  return (
    <Confirm
      title="Leave without saving?"
      isOpen={status === 'blocked'}
      onClose={() => reset?.()}
      verb="Leave"
      onConfirm={() => proceed?.()}
    >
      What you typed here is not saved, and would be lost.
    </Confirm>
  )
}
