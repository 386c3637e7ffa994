import { useBlocker } from '@tanstack/react-router'
import { Confirm } from './confirm.tsx'

/** Asks before a page is left or loaded anew with what was typed there and is kept nowhere. */
export function AskBeforeLeaving({ isDirty }: { isDirty: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname,
    enableBeforeUnload: isDirty,
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
