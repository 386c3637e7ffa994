import type { UseMutationResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useToast } from '../shell/toasts.tsx'
import { Confirm } from './confirm.tsx'

interface Props {
  /** The question, such as `Delete the variable KEY?` */
  title: string
  /** What is deleted, as the user knows it. */
  name: string
  /** Deletes what has this id. */
  removal: Pick<UseMutationResult<unknown, Error, string>, 'mutate' | 'isPending' | 'error'>
  id: string
  onClose: () => void
  /** What will be gone, and what that means for others. */
  children: ReactNode
}

/** Asks before one thing of a list is deleted, and says when it is. */
export function Deletion({ title, name, removal, id, onClose, children }: Props) {
  const say = useToast()
  const confirmed = () =>
    removal.mutate(id, {
      onSuccess: () => {
        say(`${name} is deleted`)
        onClose()
      },
    })
  return (
    <Confirm
      title={title}
      isOpen
      onClose={onClose}
      verb="Delete"
      isBusy={removal.isPending}
      error={removal.error}
      onConfirm={confirmed}
    >
      {children}
    </Confirm>
  )
}
