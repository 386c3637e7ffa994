import { useParams } from '@tanstack/react-router'
import { createContext, useContext } from 'react'
import type { SignedIn } from './session.ts'

export const SessionContext = createContext<SignedIn | undefined>(undefined)

/** Who is signed in. Only below the session gate. */
export function useSession(): SignedIn {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('useSession is below the session gate only')
  return session
}

/** How often somebody has signed in again over the page: what has stopped with a session begins anew with it. */
export const SignInsContext = createContext(0)

/** Tells whether the session may do what asks for a scope in the team of the page. */
export function useScopes(): (scope: string) => boolean {
  const { team } = useParams({ strict: false })
  const scopes = useSession().teams.find(({ slug }) => slug === team)?.scopes ?? []
  return (scope) => scopes.includes(scope) || (scope !== 'admin' && scopes.includes('executor'))
}

/** Whether it may do what asks for this one. */
export function useMay(scope: 'read' | 'run' | 'build' | 'admin'): boolean {
  return useScopes()(scope)
}
