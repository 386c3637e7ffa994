import { useParams } from '@tanstack/react-router'
import { useEffect, type ReactNode } from 'react'
import type { RestCall } from '../rules/as-curl.ts'
import styles from './page.module.css'
import { useCurlKey } from './use-curl-key.ts'

interface Props {
  /** The heading, and what the browser's tab says. */
  title: string
  /** Beside the heading, such as a status. */
  note?: ReactNode
  actions?: ReactNode
  /** Below the heading, such as tabs. */
  tabs?: ReactNode
  /** That reads what the page shows, copied by `y`; absent where a part of the page has one. */
  call?: RestCall
  children: ReactNode
}

/** The frame of every page: heading, actions, content. */
export function Page({ title, note, actions, tabs, call, children }: Props) {
  const { team = '' } = useParams({ strict: false })
  useCurlKey(team, call)
  useEffect(() => {
    document.title = `${title} · Console`
  }, [title])
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <div className={styles.heading}>
          <h1>{title}</h1>
          {note}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {tabs}
      {children}
    </div>
  )
}

/** A part of a page with a frame and a heading of its own. */
export function Card({ title, actions, children }: { title?: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className={styles.card} aria-label={title}>
      {(title || actions) && (
        <header className={styles.header}>
          {title && <h2>{title}</h2>}
          {actions && <div className={styles.actions}>{actions}</div>}
        </header>
      )}
      {children}
    </section>
  )
}
