import { exitCodes, ExitError } from '../exit.ts'
import type { Target } from './choose-target.ts'
import { isSealed, readCredential, refuseOpenWay, writeCredential, type Credential } from './credentials.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What a client is made with: a token, and a fetch of its own where the token is renewed at an issuer. */
export interface Access {
  token: string
  fetch?: typeof fetch
}

/** The access to a target: PAS_TOKEN, else what `pas login` stored for it. */
export async function authenticated(env: Environment, target: Target): Promise<Access> {
  refuseOpenWay(target.url)
  if (env['PAS_TOKEN']) return { token: env['PAS_TOKEN'].trim() }
  const credential = await readCredential(env, target)
  if (credential === undefined)
    throw new ExitError(
      exitCodes.login,
      `Nobody is signed in to the team ${target.team} at ${target.url}. Sign in: pas login ${target.url} --team ${target.team} (or set PAS_TOKEN)`,
    )
  return credential.kind === 'apiToken' ? { token: credential.apiToken } : ofIssuer(env, target, credential)
}

type DeviceCredential = Extract<Credential, { kind: 'device' }>

/** Access by a token of an issuer, which is renewed ahead of its end, and once where it is refused. */
async function ofIssuer(env: Environment, target: Target, credential: DeviceCredential): Promise<Access> {
  let current = credential
  const renew = async () => {
    const { renewed } = await import('./device-flow.ts')
    current = await renewed(current)
    await writeCredential(env, target, current, { keyring: await isSealed(env, target) })
  }
  const isEnding = current.expiresAt !== undefined && current.expiresAt < Date.now() + 60_000
  if (isEnding && current.refreshToken !== undefined) await renew()
  const renewing: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    const isStream = init?.body instanceof ReadableStream
    if (response.status !== 401 || current.refreshToken === undefined || isStream) return response
    await response.body?.cancel()
    await renew()
    const headers = new Headers(init?.headers)
    headers.set('authorization', `Bearer ${current.accessToken}`)
    return fetch(input, { ...init, headers })
  }
  return { token: current.accessToken, fetch: renewing }
}
