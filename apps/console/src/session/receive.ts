import type { QueryClient } from '@tanstack/react-query'
import { dropAllUploads } from '../api/upload-list.ts'
import { forgetKept } from './kept-here.ts'
import { forgetSearches } from './last-search.ts'
import type { Session, SignedIn } from './session.ts'

/** Whose pages these are. Another name, client or choice of teams is another person. */
export const personOf = ({ name, clientId, teams }: SignedIn): string =>
  JSON.stringify([clientId ?? null, name, teams.map(({ slug }) => slug).toSorted()])

let last: string | undefined

/** Takes what the server says of the session; where it is another person's, all that was read for the last one goes. */
export function receive(queries: QueryClient, session: Session): Session {
  if (!session.signedIn) return session
  const person = personOf(session)
  if (last !== undefined && last !== person) {
    forgetKept()
    forgetSearches()
    dropAllUploads()
    // The session's own query stays, as the gate looks at it: it would not be told of its removal.
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
  }
  last = person
  return session
}
