import { useEffect, useState, type ReactNode } from 'react'
import { ProblemError } from '../api/problem.ts'
import { Button } from './button.tsx'
import styles from './page-states.module.css'

/** How long an answer may take before the page shows that it waits. */
const SHOWN_AFTER_MS = 150

/** A skeleton, once the wait can be felt. */
export function Loading({ what, lines = 4 }: { what: string; lines?: number }) {
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div role="status" className={styles.loading}>
      <span className="visually-hidden">Loading {what}</span>
      {isShown && Array.from({ length: lines }, (_, line) => <span key={line} className={styles.bar} />)}
    </div>
  )
}

/** What the service refused or failed with, and a way on. */
export function Fault({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const problem = error instanceof ProblemError ? error.problem : undefined
  return (
    <div role="alert" className={styles.fault}>
      <p>
        <strong>{error.message}</strong>
      </p>
      {problem?.errors?.map(({ path, message }) => (
        <p key={path + message}>
          <code>{path}</code> {message}
        </p>
      ))}
      {problem && (
        <p className={styles.soft}>
          <code>{problem.code}</code> · request <code>{problem.requestId}</code>
        </p>
      )}
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  )
}

/** Why there is nothing, and the one thing to do about it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <h2>{title}</h2>
      {children}
    </div>
  )
}

interface Asked<T> {
  data: T | undefined
  error: Error | null
  refetch: () => unknown
}

/** What is not there any more, or is not for who asks: old data is not shown either. */
const isGone = (error: Error | null) => error instanceof ProblemError && [403, 404].includes(error.problem.status)

export interface AnswerProps<T> {
  of: Asked<T>
  what: string
  children: (data: T) => ReactNode
}

/** Whether there is data that may be shown. */
export const isShown = <T,>(of: Asked<T>): of is Asked<T> & { data: T } => of.data !== undefined && !isGone(of.error)

/** The data of a query once it is there; before that its skeleton, or what went wrong. Old data stays below a failure. */
export function Answer<T>({ of, what, children }: AnswerProps<T>) {
  const fault = of.error !== null && <Fault error={of.error} onRetry={() => void of.refetch()} />
  if (!isShown(of)) return fault || <Loading what={what} />
  return (
    <>
      {fault}
      {children(of.data)}
    </>
  )
}
