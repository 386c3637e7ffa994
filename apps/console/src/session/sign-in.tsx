import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react'
import { ProblemError } from '../api/problem.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { firstFocus } from '../parts/first-focus.ts'
import { Loading } from '../parts/page-states.tsx'
import { receive } from './receive.ts'
import { signIn, type SignInWay } from './session.ts'
import styles from './sign-in.module.css'

/** What the address of this visit brought; the address forgets it, so that neither history nor a copied address has it. */
const arrived = takeFromAddress()

const SPENT = 'This link signs nobody in any more: it does so once, within ten minutes.'

const isRefused = (error: Error) => error instanceof ProblemError && error.problem.status === 401

/** Takes the code of a link at once, else asks for an API token or leads to the issuer. */
export function SignIn({ ways, isOverPage }: { ways: SignInWay[]; isOverPage: boolean }) {
  const queries = useQueryClient()
  const [apiToken, setApiToken] = useState('')
  const attempt = useMutation({
    mutationFn: signIn,
    onSuccess: (session) => {
      receive(queries, session)
      // What the page has read may be old.
      void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
      queries.setQueryData(['session'], session)
    },
  })
  const { mutate, variables, error, isPending } = attempt
  useEffect(() => {
    const { code } = arrived
    if (code !== undefined) mutate({ code })
    arrived.code = undefined
  }, [mutate])
  const link = variables !== undefined && 'code' in variables ? variables : undefined
  if (arrived.code !== undefined || (link !== undefined && isPending)) return <Loading what="session" />

  const { pathname, search, hash } = window.location
  const returnTo = pathname === '/sign-in' ? '/' : pathname + search + hash
  return (
    <Ground isOverPage={isOverPage}>
      <form
        className={styles.card}
        onSubmit={(event) => {
          event.preventDefault()
          mutate({ apiToken: apiToken.trim() })
        }}
      >
        <h1>{isOverPage ? 'Your session has ended' : 'Sign in'}</h1>
        {isOverPage && <p className={styles.hint}>Sign in again to go on. What you typed is still there.</p>}
        {ways.includes('oidc') && (
          <a className={styles.issuer} href={`/session/oidc?returnTo=${encodeURIComponent(returnTo)}`}>
            Sign in with your organization
          </a>
        )}
        <Field label="API token" hint="It is exchanged for a session and not kept.">
          <input
            ref={isOverPage ? firstFocus : undefined}
            type="password"
            autoComplete="off"
            required
            value={apiToken}
            onChange={(event) => setApiToken(event.target.value)}
          />
        </Field>
        {(error ?? arrived.error) && (
          <p role="alert" className={styles.fault}>
            {error === null ? arrived.error : link !== undefined && isRefused(error) ? SPENT : error.message}
          </p>
        )}
        <Button type="submit" look="primary" isBusy={isPending}>
          Sign in
        </Button>
        {link !== undefined && error !== null && !isRefused(error) && (
          <Button onClick={() => mutate(link)}>Try the link again</Button>
        )}
        <p className={styles.hint}>
          On the machine that runs the service, <code>npm run admin -- console link</code> prints a link that signs in
          once.
        </p>
      </form>
    </Ground>
  )
}

/** What the sign-in lies on: the whole page, or a modal dialog over the page and over the dialogs that are open there. */
function Ground({ isOverPage, children }: { isOverPage: boolean; children: ReactNode }) {
  if (isOverPage) return <Overlay>{children}</Overlay>
  return <main className={styles.page}>{children}</main>
}

function Overlay({ children }: { children: ReactNode }) {
  const element = useRef<HTMLDialogElement>(null)
  const [before] = useState(() => document.activeElement)
  useLayoutEffect(() => {
    if (element.current?.open === false) element.current.showModal()
  }, [])
  // Not with the layout: the page has to be at hand again before it can have the focus.
  useEffect(() => {
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [before])
  return (
    <dialog
      ref={element}
      aria-label="Your session has ended"
      className={styles.overlay}
      onCancel={(event) => event.preventDefault()}
      // Browsers close it at the second Esc, whatever was prevented.
      onClose={({ currentTarget }) => !currentTarget.open && currentTarget.showModal()}
    >
      {children}
    </dialog>
  )
}

function takeFromAddress(): { code?: string; error?: string } {
  if (window.location.pathname !== '/sign-in') return {}
  const values = new URLSearchParams(window.location.hash.slice(1))
  window.history.replaceState(null, '', '/')
  return { code: values.get('code') ?? undefined, error: values.get('error') ?? undefined }
}
