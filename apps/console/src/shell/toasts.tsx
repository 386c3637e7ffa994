import { createContext, useCallback, useContext, useState, type ReactNode } from 'react'
import { Button } from '../parts/button.tsx'
import { icons } from '../parts/icons.tsx'
import styles from './toasts.module.css'

interface Toast {
  id: number
  text: string
  isFault: boolean
}

type Say = (text: string | Error) => void

const ToastContext = createContext<Say>(() => undefined)

/** Says in a corner what was done, or what failed where no place of the page could. Failures stay until they are closed. */
export const useToast = (): Say => useContext(ToastContext)

const SHOWN_MS = 6000
let nextId = 0

export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([])
  const close = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), [])
  const say = useCallback<Say>(
    (said) => {
      nextId += 1
      const toast = { id: nextId, text: said instanceof Error ? said.message : said, isFault: said instanceof Error }
      setToasts((all) => [...all.slice(-3), toast])
      if (!toast.isFault) setTimeout(() => close(toast.id), SHOWN_MS)
    },
    [close],
  )
  return (
    <ToastContext value={say}>
      {children}
      <div role="status" aria-live="polite" className={styles.toasts}>
        {toasts.map(({ id, text, isFault }) => (
          <div key={id} className={`${styles.toast} ${isFault ? styles.fault : ''}`}>
            <span>{text}</span>
            <Button look="quiet" aria-label="Close" onClick={() => close(id)}>
              <icons.cross />
            </Button>
          </div>
        ))}
      </div>
    </ToastContext>
  )
}
