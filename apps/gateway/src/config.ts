import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { isTeamSlug } from '@automation/contract/forms'
import { isScope, type Scope } from '@automation/contract/scopes'
import { isSafeAddress, type Environment } from '@automation/service/environment'
import { readTeamLimits } from '@automation/service/team-limits'
import { blockList } from './http/caller.ts'
import { mostConnections } from './http/connection-limits.ts'

/** An OIDC issuer outside the system whose tokens are accepted too. */
export interface ExternalIssuer {
  issuer: string
  audience: string
  jwksUrl: string
  /** What its claims mean here; absent: only the scope `executor` means something. */
  scopes?: ClaimRule[]
  /** What stands before a team's slug in the groups that name teams; absent: nothing. */
  groupsPrefix?: string
  /** As what the console signs people in there; absent: it does not. */
  client?: { id: string; secret: string }
}

/** The console as a client of an issuer. */
export interface ConsoleClient extends Pick<ExternalIssuer, 'issuer' | 'scopes' | 'groupsPrefix'> {
  id: string
  secret: string
}

/** A token whose claim has the value has the scopes: in the team, or in all that it names. */
export interface ClaimRule {
  claim: string
  value: string
  scopes: Scope[]
  team?: string
}

export interface GatewayConfig {
  port: number
  /** Address to listen on; undefined: every address of the machine. */
  host: string | undefined
  /** Used in Location headers and in links, without a trailing slash. */
  publicUrl: string
  /** Such as `Svc-`. */
  headerPrefix: string
  bodyMaxBytes: number
  /** What the bodies of all requests may hold together. */
  bodiesMaxBytes: number
  /** Of an object that is uploaded. */
  uploadMaxBytes: number
  /** How long a synchronous call waits for its run. */
  syncWaitMaxMs: number
  /** How long any other call to a neighbour may take. */
  callTimeoutMs: number
  /** The most live streams at this gateway, of one team and in all. */
  teamMaxStreams: number
  /** Of teams that have no limit of their own; undefined: as many as they like. */
  teamCallsPerSecond: number | undefined
  maxStreams: number
  /** The most connections in all, and from an address that is no proxy. */
  maxConnections: number
  addressMaxConnections: number
  /** How often a live stream has a comment line. */
  streamCommentMs: number
  /** How often it is asked whether the sessions of what goes on for long do. */
  sessionLookEveryMs: number
  /** Origins that browsers may call from; `*` for all, empty for none. */
  corsOrigins: string[]
  /** Addresses or CIDRs whose X-Forwarded-For is believed. */
  trustedProxies: string[]
  /** Each team's webhooks are also at a host of its own below, in lower case and without a port. */
  webhookDomain: string | undefined
  external: ExternalIssuer | undefined
  /** Undefined: there is no console. */
  console: ConsoleListener | undefined
  sandboxes: SandboxListeners
  /** Undefined: runners of other networks have no way in. */
  runners: RunnerListener | undefined
}

/** Where the gateway listens for runners of other networks. */
export interface RunnerListener {
  port: number
  /** Undefined: it is without TLS. */
  tls: TlsIdentity | undefined
  maxMessageBytes: number
  /** Of what runners send. */
  maxReceivedBytes: number
}

/** Where the gateway listens for the console. */
export interface ConsoleListener {
  port: number
  /** The origin at which it is reached; undefined: this machine, without TLS. */
  url: string | undefined
  /** What its build has made. */
  folder: string
}

/** Where the gateway listens for sandboxes. */
export interface SandboxListeners {
  publicPort: number
  grpcPort: number
  /** Origins at which they are reached from outside; undefined: the host of the gateway, without TLS. */
  publicUrl: string | undefined
  grpcUrl: string | undefined
  /** What the gRPC port shows to callers; undefined: it is without TLS. */
  grpcTls: TlsIdentity | undefined
  /** Each port of a sandbox is a host of its own below; may have a port. */
  publicDomain: string | undefined
  /** How long an application in a sandbox may take to begin its answer. */
  answerTimeoutMs: number
}

/** What the gateway reads from the environment. Faults are collected in `env`. */
export function readGatewayConfig(env: Environment): GatewayConfig {
  const port = env.integer('PORT', { default: 8080, min: 0, max: 65_535 })
  const bodyMaxBytes = env.integer('BODY_MAX_BYTES', { default: 10 * 1024 * 1024, min: 1024, max: 256 * 1024 * 1024 })
  const publicUrl = env.url('PUBLIC_URL', `http://localhost:${port}`)
  const { streams: teamMaxStreams, callsPerSecond } = readTeamLimits(env)
  const maxConnections = mostConnections()
  return {
    port,
    host: env.text('HOST'),
    publicUrl,
    webhookDomain: readWebhookDomain(env, publicUrl),
    headerPrefix: readHeaderPrefix(env),
    bodyMaxBytes,
    // One address may hold three eighths of it, which must do for a body.
    bodiesMaxBytes: Math.max(128 * 1024 * 1024, 4 * bodyMaxBytes),
    uploadMaxBytes: env.integer('UPLOAD_MAX_BYTES', { default: 5 * 2 ** 30, min: 1, max: 2 ** 42 }),
    syncWaitMaxMs: env.integer('SYNC_WAIT_MAX_MS', { default: 55_000, min: 100, max: 3_600_000 }),
    callTimeoutMs: 15_000,
    teamMaxStreams,
    teamCallsPerSecond: callsPerSecond || undefined,
    maxStreams: 10 * teamMaxStreams,
    maxConnections,
    addressMaxConnections: Math.ceil(maxConnections / 5),
    streamCommentMs: 15_000,
    sessionLookEveryMs: 10_000,
    corsOrigins: readCorsOrigins(env),
    trustedProxies: readTrustedProxies(env),
    external: readExternalIssuer(env),
    console: readConsoleListener(env, port, publicUrl),
    sandboxes: readSandboxListeners(env, port),
    runners: readRunnerListener(env),
  }
}

/** Its hosts are those of teams: none of them can be the gateway's own. */
function readWebhookDomain(env: Environment, publicUrl: string): string | undefined {
  const domain = env.text('WEBHOOK_DOMAIN')?.toLowerCase()
  if (domain === undefined) return undefined
  if (!/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(domain))
    env.fault('WEBHOOK_DOMAIN', 'must be a domain without a port, such as webhooks.example.com')
  else if (URL.canParse(publicUrl) && new URL(publicUrl).hostname.endsWith(`.${domain}`))
    env.fault('WEBHOOK_DOMAIN', "must not be one that the host of PUBLIC_URL is below: that host would be a team's")
  return domain
}

const consoleBuild = fileURLToPath(new URL('../../console/dist/', import.meta.url))

/** An origin of its own: what process code answers at the gateway's own is no matter of the console's pages. */
function readConsoleListener(env: Environment, port: number, publicUrl: string): ConsoleListener | undefined {
  const isEnabled = env.boolean('CONSOLE_ENABLED', true)
  const consolePort = env.integer('CONSOLE_PORT', { default: nextPort(port, 3), min: 0, max: 65_535 })
  const given = env.text('CONSOLE_URL')
  const url = given === undefined ? undefined : originOf(env, 'CONSOLE_URL', given)
  if (url !== undefined && URL.canParse(publicUrl) && new URL(publicUrl).origin === url)
    env.fault('CONSOLE_URL', 'must be another origin than that of PUBLIC_URL, where process code answers')
  return isEnabled ? { port: consolePort, url, folder: consoleBuild } : undefined
}

/** Beside the gateway's port: those that follow it, or free ones as that one is. */
function readSandboxListeners(env: Environment, port: number): SandboxListeners {
  const publicDomain = env.text('SANDBOX_PUBLIC_DOMAIN')
  if (publicDomain !== undefined && !/^[a-z0-9][a-z0-9.-]*(:\d{1,5})?$/i.test(publicDomain))
    env.fault('SANDBOX_PUBLIC_DOMAIN', 'must be a domain such as sandboxes.example.com')
  const { public: publicUrl, grpc: grpcUrl } = readSandboxUrls(env)
  const portOfDomain = /:(\d+)$/.exec(publicDomain ?? '')?.[1]
  if (publicUrl !== undefined && portOfDomain !== undefined && portOfDomain !== portOf(publicUrl))
    env.fault('SANDBOX_PUBLIC_DOMAIN', 'must have no port, or that of the public address in SANDBOX_URLS')
  return {
    publicUrl,
    grpcUrl,
    grpcTls: readTls(env, 'SANDBOX_GRPC_TLS_DIR'),
    publicPort: env.integer('SANDBOX_PUBLIC_PORT', { default: nextPort(port, 1), min: 0, max: 65_535 }),
    grpcPort: env.integer('SANDBOX_GRPC_PORT', { default: nextPort(port, 2), min: 0, max: 65_535 }),
    publicDomain,
    answerTimeoutMs: 300_000,
  }
}

/** Largest is a result with what of its log was not sent before. */
function readRunnerListener(env: Environment): RunnerListener | undefined {
  const isOpen = env.text('RUNNERS_PORT') !== undefined
  const tls = readTls(env, 'RUNNERS_TLS_DIR')
  const mib = 1024 * 1024
  const value = env.integer('RETURN_VALUE_MAX_BYTES', { default: 5 * mib, min: 1, max: 256 * mib })
  const log = env.integer('LOG_MAX_BYTES', { default: 5 * mib, min: 1 })
  // Runners of the release before count characters, of up to three bytes.
  const maxReceivedBytes = Math.min(value + 3 * log + 8 * mib, 2 ** 31 - 1)
  if (!isOpen) return undefined
  const port = env.integer('RUNNERS_PORT', { default: 0, max: 65_535 })
  return { port, tls, maxMessageBytes: 256 * mib, maxReceivedBytes }
}

/** The port `step` behind another; 0 for any free one beside 0, and where there is none. */
function nextPort(port: number, step: number): number {
  return port === 0 || port + step > 65_535 ? 0 : port + step
}

/** Where sandboxes are reached from outside: an origin each, of those that are named. */
function readSandboxUrls(env: Environment): { public?: string; grpc?: string } {
  const given = env.pairs('SANDBOX_URLS', ['public', 'grpc'])
  return Object.fromEntries(given.map(([name, text]) => [name, originOf(env, `SANDBOX_URLS: ${name}`, text)]))
}

/** An address of http or https without a path, a user or a query, as an origin. */
function originOf(env: Environment, name: string, text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url !== undefined && isHttp && url.href === `${url.origin}/`) return url.origin
  env.fault(name, 'must be http:// or https:// with a host and, if need be, a port, such as https://host.example.com')
  return undefined
}

function portOf(origin: string): string {
  const { port, protocol } = new URL(origin)
  return port || (protocol === 'https:' ? '443' : '80')
}

function readHeaderPrefix(env: Environment): string {
  const prefix = env.text('HEADER_PREFIX', 'Svc-')
  if (!/^[A-Za-z][A-Za-z0-9-]{0,31}$/.test(prefix)) env.fault('HEADER_PREFIX', 'must be letters, digits and hyphens')
  return prefix
}

function readTrustedProxies(env: Environment): string[] {
  const proxies = env.list('TRUSTED_PROXIES', [])
  try {
    blockList(proxies)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    env.fault('TRUSTED_PROXIES', `must be addresses or CIDRs, not ${JSON.stringify(error.message)}`)
  }
  return proxies
}

function readCorsOrigins(env: Environment): string[] {
  const origins = env.list('CORS_ORIGINS', [])
  for (const origin of origins)
    if (origin !== '*' && (!URL.canParse(origin) || new URL(origin).origin !== origin))
      env.fault('CORS_ORIGINS', `must be * or origins such as https://host, not ${JSON.stringify(origin)}`)
  return origins
}

function readExternalIssuer(env: Environment): ExternalIssuer | undefined {
  const issuer = env.text('OIDC_ISSUER')
  const audience = env.text('OIDC_AUDIENCE')
  const jwksUrl = env.url('OIDC_JWKS_URL')
  const scopes = readClaimRules(env)
  const groupsPrefix = env.text('OIDC_GROUPS_PREFIX')
  const clientId = env.text('OIDC_CLIENT_ID')
  const clientSecret = env.secret('OIDC_CLIENT_SECRET')
  if (issuer !== undefined && !(URL.canParse(issuer) && isSafeAddress(new URL(issuer))))
    env.fault(
      'OIDC_ISSUER',
      'must be a URL with https://, or on this machine, as whoever sits on the way could let in anybody',
    )
  if (jwksUrl !== undefined && URL.canParse(jwksUrl) && !isSafeAddress(new URL(jwksUrl)))
    env.fault('OIDC_JWKS_URL', 'must be https://, as whoever sits on the way could put in keys of their own')
  const all = [issuer, audience, jwksUrl, scopes, groupsPrefix, clientId, clientSecret]
  if (all.every((one) => one === undefined)) return undefined
  if (clientId !== undefined && clientSecret === undefined)
    env.fault('OIDC_CLIENT_SECRET', 'is missing beside OIDC_CLIENT_ID')
  if (clientId === undefined && clientSecret !== undefined)
    env.fault('OIDC_CLIENT_ID', 'is missing beside OIDC_CLIENT_SECRET')
  if (issuer === undefined) env.fault('OIDC_ISSUER', 'is missing beside the other OIDC settings')
  if (audience === undefined) env.fault('OIDC_AUDIENCE', 'is missing beside the other OIDC settings')
  if (jwksUrl === undefined) env.fault('OIDC_JWKS_URL', 'is missing beside the other OIDC settings')
  const client =
    clientId !== undefined && clientSecret !== undefined ? { id: clientId, secret: clientSecret } : undefined
  const settings = { issuer: issuer ?? '', audience: audience ?? '', jwksUrl: jwksUrl ?? '' }
  return { ...settings, scopes, groupsPrefix, ...(client && { client }) }
}

/** Such as `scope:reports=read,groups:operators=executor admin@demo`. */
function readClaimRules(env: Environment): ClaimRule[] | undefined {
  const rules = env.list('OIDC_SCOPES', []).map((text): ClaimRule => {
    const [, claim = '', value = '', words = '', team] = /^([^:=]+):(.+)=([^=@]+)(?:@([^=@]+))?$/.exec(text) ?? []
    const scopes = words.split(' ').filter(isScope)
    if (scopes.length === 0 || scopes.join(' ') !== words || (team !== undefined && !isTeamSlug(team)))
      env.fault(
        'OIDC_SCOPES',
        `must be such as scope:reports=read,groups:ops=executor admin@demo, not ${JSON.stringify(text)}`,
      )
    return { claim, value, scopes, ...(team !== undefined && { team }) }
  })
  return rules.length === 0 ? undefined : rules
}

/** A certificate, with those between it and its authority behind it, and its private key. PEM. */
export interface TlsIdentity {
  cert: string
  key: string
}

/** Reads `tls.crt` and `tls.key` in the folder that a setting names; faults are noted in `env`. Undefined where it is not set. */
function readTls(env: Environment, name: string): TlsIdentity | undefined {
  const folder = env.text(name)
  if (folder === undefined) return undefined
  try {
    const [cert, key] = [readFileSync(join(folder, 'tls.crt'), 'utf8'), readFileSync(join(folder, 'tls.key'), 'utf8')]
    createSecureContext({ cert, key })
    return { cert, key }
  } catch {
    // What OpenSSL says of a key is for nobody's log.
    env.fault(name, `must be a folder with a certificate, tls.crt, and its private key, tls.key, in PEM`)
    return undefined
  }
}
