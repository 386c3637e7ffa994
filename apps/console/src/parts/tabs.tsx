import { useEffect, useRef, type ReactNode } from 'react'
import { showInside } from './show-inside.ts'
import styles from './tabs.module.css'

type Tab<Name> = readonly [name: Name, word: string]

/** The tab that an address names; where it names none of them, the first one. */
export const tabOf = <Name,>(tabs: readonly [Tab<Name>, ...Tab<Name>[]], given: unknown): Name =>
  (tabs.find(([name]) => name === given) ?? tabs[0])[0]

/**
 * Links between the pages of one thing, each a TanStack `Link`; the one that is open carries `aria-current`, and is in sight
 * also where not all fit.
 */
export function Tabs({ label, children }: { label: string; children: ReactNode }) {
  const tabs = useRef<HTMLElement>(null)
  useEffect(() => showInside(tabs.current, '[aria-current=page]'))
  return (
    <nav ref={tabs} aria-label={label} className={styles.tabs}>
      {children}
    </nav>
  )
}
