import type { ButtonHTMLAttributes } from 'react'
import styles from './button.module.css'

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: 'primary' | 'plain' | 'danger' | 'quiet'
  /** Something goes on because of it: it can't be pressed, and says so. */
  isBusy?: boolean
}

export function Button({ look = 'plain', isBusy = false, type = 'button', className = '', ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      aria-busy={isBusy || undefined}
      disabled={rest.disabled === true || isBusy}
      className={`${styles.button} ${styles[look]} ${className}`}
    />
  )
}
