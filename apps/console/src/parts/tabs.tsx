import type { ReactNode } from 'react'
import styles from './tabs.module.css'

/** Links between the pages of one thing, each a TanStack `Link`; the one that is open carries `aria-current`. */
export function Tabs({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className={styles.tabs}>
      {children}
    </nav>
  )
}
