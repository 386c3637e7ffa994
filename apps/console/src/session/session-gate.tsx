import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useLayoutEffect, useState, type ReactNode } from 'react'
import { watchSessionEnd } from '../api/client.ts'
import { Fault, Loading } from '../parts/page-states.tsx'
import { personOf, receive } from './receive.ts'
import { readSession } from './session.ts'
import { SessionContext, SignInsContext } from './session-context.ts'
import { SignIn } from './sign-in.tsx'

/**
 * Shows the pages to who is signed in, and the sign-in to others. Where a session ends meanwhile the sign-in lies over
 * the page, which keeps what was typed, for the same person.
 */
export function SessionGate({ children }: { children: ReactNode }) {
  const queries = useQueryClient()
  const {
    data: session,
    error,
    refetch,
  } = useQuery({
    queryKey: ['session'],
    queryFn: async () => receive(queries, await readSession()),
    staleTime: 60_000,
    refetchOnWindowFocus: 'always',
  })
  const [last, setLast] = useState(session)
  if (session?.signedIn && session !== last) setLast(session)
  const [signIns, setSignIns] = useState(0)
  const [hasEnded, setEnded] = useState(false)
  const isEnded = session?.signedIn === false
  if (isEnded !== hasEnded) {
    setEnded(isEnded)
    if (hasEnded) setSignIns(signIns + 1)
  }

  const isAnswered = session !== undefined || error !== null
  // What index.html shows until then, where it shows anything.
  useLayoutEffect(() => {
    if (isAnswered) document.getElementById('first-frame')?.remove()
  }, [isAnswered])
  useEffect(() => watchSessionEnd(() => void queries.invalidateQueries({ queryKey: ['session'] })), [queries])

  if (error !== null && session === undefined) return <Fault error={error} onRetry={() => void refetch()} />
  if (session === undefined) return <Loading what="session" />
  const known = session.signedIn ? session : last?.signedIn ? last : undefined
  return (
    <>
      {known && (
        // What the pages hold of one person is not for the next one.
        <div key={personOf(known)} inert={!session.signedIn}>
          <SessionContext value={known}>
            <SignInsContext value={signIns}>{children}</SignInsContext>
          </SessionContext>
        </div>
      )}
      {!session.signedIn && <SignIn ways={session.ways} isOverPage={known !== undefined} />}
    </>
  )
}
