import { useId, useState, type ReactNode } from 'react'
import { Dialog, FormActions } from './dialog.tsx'
import { Field } from './field.tsx'
import { Fault } from './page-states.tsx'

interface Props {
  /** The question, such as `Delete the variable KEY?` */
  title: string
  isOpen: boolean
  onClose: () => void
  /** What the button does, such as `Delete`. */
  verb: string
  /** What will be gone, and what that means for others. */
  children?: ReactNode
  /** A word that is to be typed first, for what takes a lot with it. */
  word?: string
  isBusy?: boolean
  error?: Error | null
  onConfirm: () => void
}

/** Asks before what can't be undone. What fails is said in the dialog, which stays open. */
export function Confirm({ title, isOpen, onClose, verb, children, word, isBusy, error, onConfirm }: Props) {
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <Question {...{ onClose, verb, children, word, isBusy, error, onConfirm }} />
    </Dialog>
  )
}

function Question({ onClose, verb, children, word, isBusy, error, onConfirm }: Omit<Props, 'title' | 'isOpen'>) {
  const [typed, setTyped] = useState('')
  const id = useId()
  return (
    <form
      aria-describedby={children ? id : undefined}
      onSubmit={(event) => {
        event.preventDefault()
        onConfirm()
      }}
      style={{ display: 'grid', gap: 'var(--space-4)' }}
    >
      {children && <div id={id}>{children}</div>}
      {word !== undefined && (
        <Field label={`Type ${word} to go on`}>
          <input value={typed} autoComplete="off" onChange={(event) => setTyped(event.target.value)} />
        </Field>
      )}
      {error && <Fault error={error} />}
      <FormActions onCancel={onClose} look="danger" isBusy={isBusy} disabled={word !== undefined && typed !== word}>
        {verb}
      </FormActions>
    </form>
  )
}
