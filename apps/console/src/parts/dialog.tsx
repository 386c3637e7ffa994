import { useEffect, useLayoutEffect, useRef, type ReactNode } from 'react'
import { Button, type ButtonProps } from './button.tsx'
import { icons } from './icons.tsx'
import { OwnDialog } from './own-dialog.ts'
import styles from './dialog.module.css'

interface Props {
  title: string
  isOpen: boolean
  onClose: () => void
  isWide?: boolean
  children: ReactNode
}

/** A modal dialog of the browser: it holds the focus, Esc closes it, and the focus goes back after it. */
export function Dialog({ title, isOpen, onClose, isWide = false, children }: Props) {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (isOpen && element.current?.open === false) open(element.current)
    if (!isOpen) element.current?.close()
  }, [isOpen])
  // Where it is unmounted while it is open: only closing gives the focus back, and only while it is in the document.
  useLayoutEffect(() => {
    const dialog = element.current
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={element}
      aria-label={title}
      className={`${styles.dialog} ${isWide ? styles.wide : ''}`}
      // It is told later, when it may be open again.
      onClose={({ currentTarget }) => !currentTarget.open && onClose()}
    >
      {isOpen && (
        <OwnDialog value={element}>
          <header className={styles.header}>
            <h2>{title}</h2>
            <Button look="quiet" aria-label="Close" onClick={onClose}>
              <icons.cross />
            </Button>
          </header>
          <div className={styles.body}>{children}</div>
        </OwnDialog>
      )}
    </dialog>
  )
}

/** Opens a dialog at the field that it begins with, or at its first one: browsers would choose the button that closes it. */
function open(dialog: HTMLDialogElement): void {
  dialog.showModal()
  if (dialog.querySelector('[autofocus]') === null)
    dialog.querySelector<HTMLElement>(':is(input, select, textarea):enabled')?.focus()
}

/** The buttons at the end of a dialog's form. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className={styles.actions}>{children}</div>
}

/** Those of a form that may be given up: Cancel, and the one that sends it, as it is told to be. */
export function FormActions({ onCancel, ...submit }: ButtonProps & { onCancel: () => void }) {
  return (
    <DialogActions>
      <Button onClick={onCancel}>Cancel</Button>
      <Button look="primary" {...submit} type="submit" />
    </DialogActions>
  )
}
