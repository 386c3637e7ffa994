import { call, firstAnswer } from '../api/client.ts'

export interface SignedIn {
  signedIn: true
  name: string
  clientId?: string
  teams: { slug: string; name?: string; scopes: string[] }[]
  expiresAt: string
  /** The public address of the REST interface and of webhooks. */
  apiUrl: string
  /** What the service's own headers begin with, such as `Svc-`. */
  headerPrefix: string
  ways: SignInWay[]
}

interface SignedOut {
  signedIn: false
  ways: SignInWay[]
}

export type SignInWay = 'code' | 'apiToken' | 'oidc'
export type Session = SignedIn | SignedOut

export async function readSession(): Promise<Session> {
  const answer = (await firstAnswer('/session')) ?? (await call('/session'))
  return (await answer.json()) as Session
}

/** Signs in by what an operator printed or by an API token, which is exchanged and not kept. */
export async function signIn(by: { code: string } | { apiToken: string }): Promise<Session> {
  const response = await call('/session', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(by),
  })
  return (await response.json()) as Session
}

/** Ends the session; where the issuer keeps one of its own, gives the address that ends that, too. */
export async function signOut(): Promise<string | undefined> {
  const response = await call('/session', { method: 'DELETE' })
  return response.headers.get('Location') ?? undefined
}
