import { cloneElement, useId, type ReactElement } from 'react'
import styles from './field.module.css'

interface ControlProps {
  id?: string
  'aria-describedby'?: string
  'aria-invalid'?: boolean
}

interface Props {
  label: string
  hint?: string
  /** What the service or the page finds wrong with the value. */
  fault?: string
  /** One input, select or textarea. */
  children: ReactElement<ControlProps>
}

/** A control with its label, and what is to be said of it, tied together for screen readers. */
export function Field({ label, hint, fault, children }: Props) {
  const id = useId()
  const notes = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ')
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {cloneElement(children, {
        id,
        'aria-describedby': notes || undefined,
        'aria-invalid': fault === undefined ? undefined : true,
      })}
      {hint && (
        <span id={`${id}-hint`} className={styles.hint}>
          {hint}
        </span>
      )}
      {fault && (
        <span id={`${id}-fault`} role="alert" className={styles.fault}>
          {fault}
        </span>
      )}
    </div>
  )
}
