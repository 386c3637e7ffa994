import type { TokenSource } from '@automation/client'
import { exitCodes, ExitError } from '../exit.ts'
import type { Target } from './choose-target.ts'
import {
  aloneWithCredentials,
  isSealed,
  readCredential,
  refuseOpenWay,
  writeCredential,
  type Credential,
} from './credentials.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The token of a target: PAS_TOKEN, unless it is for another address, PAS_URL, than that of the context; else what
 * `pas login` stored for it. Of an issuer's it is a function that renews it: ahead of its end, and once where the service
 * has refused it.
 */
export async function authenticated(env: Environment, target: Target): Promise<TokenSource> {
  refuseOpenWay(target.url)
  const isElsewhere = Boolean(env['PAS_TOKEN']) && target.isTokenForOther
  if (env['PAS_TOKEN'] && !isElsewhere) return env['PAS_TOKEN'].trim()
  const credential = await readCredential(env, target)
  if (credential === undefined)
    throw new ExitError(
      exitCodes.login,
      `Nobody is signed in to the team ${target.team} at ${target.url}. Sign in: pas login ${target.url} --team ${target.team} ${isElsewhere ? '(PAS_TOKEN is for PAS_URL, which is another address)' : '(or set PAS_TOKEN)'}`,
    )
  return credential.kind === 'apiToken' ? credential.apiToken : ofIssuer(env, target, credential)
}

type DeviceCredential = Extract<Credential, { kind: 'device' }>

function ofIssuer(env: Environment, target: Target, credential: DeviceCredential): TokenSource {
  let current = credential
  return async (isStale) => {
    const isEnding = current.expiresAt !== undefined && current.expiresAt < Date.now() + 60_000
    if ((isStale || isEnding) && current.refreshToken !== undefined)
      current = await aloneWithCredentials(env, () => renew(current))
    return current.accessToken
  }

  async function renew(before: DeviceCredential): Promise<DeviceCredential> {
    // Another program may have renewed it: an issuer ends the sign-in where a refresh token is used twice.
    const stored = await readCredential(env, target)
    if (stored?.kind === 'device' && stored.accessToken !== before.accessToken) return stored
    const { renewed } = await import('./device-flow.ts')
    const next = await renewed(before)
    await writeCredential(env, target, next, { keyring: await isSealed(env, target) })
    return next
  }
}
