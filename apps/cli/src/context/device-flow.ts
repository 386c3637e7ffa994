import * as oauth from 'openid-client'
import { exitCodes, ExitError } from '../exit.ts'
import type { Target } from './choose-target.ts'
import { isThisMachine, type Credential } from './credentials.ts'

type DeviceCredential = Extract<Credential, { kind: 'device' }>

/** What somebody opens and types, on any device. */
export interface DeviceCode {
  address: string
  code: string
  /** With the code in it, where the issuer gives one. */
  wholeAddress?: string
}

/** Signs in by the device flow (RFC 8628) of the issuer that the team's metadata names. */
export async function signInByDevice(
  target: Target,
  options: { clientId: string; scope: string; show(code: DeviceCode): void; signal?: AbortSignal },
): Promise<DeviceCredential> {
  const issuer = await issuerOf(target)
  const config = await configure(issuer, options.clientId)
  if (config.serverMetadata().device_authorization_endpoint === undefined)
    throw new ExitError(
      exitCodes.login,
      `${issuer} has no device flow. Sign in by an API token: pas login ${target.url} --team ${target.team}`,
    )
  try {
    const started = await oauth.initiateDeviceAuthorization(config, { scope: options.scope })
    options.show({
      address: started.verification_uri,
      code: started.user_code,
      wholeAddress: started.verification_uri_complete,
    })
    const tokens = await oauth.pollDeviceAuthorizationGrant(config, started, undefined, { signal: options.signal })
    return credentialOf(issuer, options.clientId, tokens)
  } catch (error) {
    throw refusal(issuer, error)
  }
}

/** The credential with a fresh access token. Throws an ExitError where the issuer gives none. */
export async function renewed(credential: DeviceCredential): Promise<DeviceCredential> {
  try {
    const config = await configure(credential.issuer, credential.clientId)
    const tokens = await oauth.refreshTokenGrant(config, credential.refreshToken ?? '')
    return {
      ...credential,
      ...credentialOf(credential.issuer, credential.clientId, tokens),
      refreshToken: tokens.refresh_token ?? credential.refreshToken,
    }
  } catch (error) {
    throw refusal(credential.issuer, error)
  }
}

/** The issuer where people sign in: of those that the metadata names, the one that is not the service itself. */
async function issuerOf({ url, team }: Target): Promise<string> {
  const address = `${url}/.well-known/oauth-protected-resource/api/${team}/rest`
  const response = await fetch(address).catch((error: Error) => {
    throw new ExitError(exitCodes.unreachable, `${url} can't be reached: ${error.message}`)
  })
  const servers = response.ok
    ? ((await response.json()) as { authorization_servers?: string[] }).authorization_servers
    : []
  const outside = servers?.find((server) => !server.endsWith(`/api/${team}/rest`))
  if (outside !== undefined) return outside
  throw new ExitError(
    exitCodes.login,
    `${url} names no issuer to sign in at (the operator sets OIDC_ISSUER). Sign in by an API token: pas login ${url} --team ${team}`,
  )
}

async function configure(issuer: string, clientId: string): Promise<oauth.Configuration> {
  const isLocal = new URL(issuer).protocol === 'http:' && isThisMachine(issuer)
  return oauth
    .discovery(
      new URL(issuer),
      clientId,
      undefined,
      oauth.None(),
      isLocal ? { execute: [oauth.allowInsecureRequests] } : {},
    )
    .catch((error: unknown) => {
      throw refusal(issuer, error)
    })
}

function credentialOf(issuer: string, clientId: string, tokens: oauth.TokenEndpointResponse): DeviceCredential {
  return {
    kind: 'device',
    issuer,
    clientId,
    accessToken: tokens.access_token,
    ...(tokens.expires_in === undefined ? {} : { expiresAt: Date.now() + tokens.expires_in * 1000 }),
    ...(tokens.refresh_token === undefined ? {} : { refreshToken: tokens.refresh_token }),
  }
}

function refusal(issuer: string, error: unknown): ExitError {
  if (error instanceof ExitError) return error
  const {
    error_description: description,
    error: code,
    message,
  } = error as {
    error_description?: string
    error?: string
    message: string
  }
  return new ExitError(
    exitCodes.login,
    `${issuer} did not sign in: ${description ?? code ?? message}. Try "pas login" again.`,
    {
      cause: error,
    },
  )
}
