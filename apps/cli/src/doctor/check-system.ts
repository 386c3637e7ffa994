import { lookup } from 'node:dns/promises'
import { connect as connectTls } from 'node:tls'
import { once } from 'node:events'
import type { Client } from '@automation/client'
import type { Target } from '../context/choose-target.ts'
import { readIdentity } from '../context/identity.ts'

/** What was looked at, and how it is. */
export interface Check {
  name: string
  state: 'ok' | 'warning' | 'fault'
  text: string
  /** What to do about it. */
  remedy?: string
}

const skewMs = 30_000
const expiringMs = 14 * 86_400_000

/** Looks at one thing after the other, from the network up; ends where what follows can't be looked at. */
export async function* checkSystem(target: Target, connect: () => Promise<Client>): AsyncGenerator<Check> {
  const { protocol, hostname, port } = new URL(target.url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const address = await checkName(host)
  yield address
  if (address.state === 'fault') return
  if (protocol === 'https:') yield await checkTls(host, Number(port || 443))
  const answer = await readiness(target.url)
  if (answer instanceof Error) {
    const remedy =
      'Look at the address, at proxies and at firewalls; with HTTPS_PROXY set, also set NODE_USE_ENV_PROXY=1.'
    yield { name: 'reachable', state: 'fault', text: wordsOf(answer), remedy }
    return
  }
  yield checkReadiness(answer)
  yield checkClock(answer, Date.now())
  yield await checkVersion(target.url)
  let client: Client
  try {
    client = await connect()
    await client.team.get()
  } catch (error) {
    yield {
      name: 'token',
      state: 'fault',
      text: (error as Error).message,
      remedy: `pas login ${target.url} --team ${target.team}`,
    }
    return
  }
  yield await checkScopes(client)
  yield await checkStream(client)
}

async function checkName(host: string): Promise<Check> {
  try {
    const addresses = await lookup(host, { all: true })
    return { name: 'address', state: 'ok', text: `${host} is ${addresses.map(({ address }) => address).join(', ')}` }
  } catch (error) {
    return {
      name: 'address',
      state: 'fault',
      text: wordsOf(error as Error),
      remedy: 'Look at the host name, and at the DNS of this machine.',
    }
  }
}

async function checkTls(host: string, port: number): Promise<Check> {
  const socket = connectTls({ host, port, servername: host, rejectUnauthorized: false, timeout: 10_000 })
  try {
    socket.once('timeout', () => socket.destroy(new Error('no answer within 10 s')))
    await once(socket, 'secureConnect')
    const { valid_to: validTo } = socket.getPeerCertificate()
    const leftMs = Date.parse(validTo) - Date.now()
    const text = `${socket.getProtocol()}, certificate until ${new Date(validTo).toISOString().slice(0, 10)}`
    if (!socket.authorized) {
      const remedy = 'For a private authority set NODE_EXTRA_CA_CERTS to its certificate; otherwise tell your operator.'
      return { name: 'tls', state: 'fault', text: `${text}; not trusted: ${String(socket.authorizationError)}`, remedy }
    }
    return leftMs < expiringMs
      ? { name: 'tls', state: 'warning', text, remedy: 'Tell your operator: the certificate ends soon.' }
      : { name: 'tls', state: 'ok', text }
  } catch (error) {
    return {
      name: 'tls',
      state: 'fault',
      text: wordsOf(error as Error),
      remedy: 'Does this port speak TLS? Try http:// for a system on this machine.',
    }
  } finally {
    socket.destroy()
  }
}

async function readiness(url: string): Promise<{ status: number; headers: Headers; tookMs: number } | Error> {
  const startedAt = performance.now()
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(10_000) })
    await response.arrayBuffer()
    return { status: response.status, headers: response.headers, tookMs: performance.now() - startedAt }
  } catch (error) {
    return error as Error
  }
}

function checkReadiness({ status, tookMs }: { status: number; tookMs: number }): Check {
  const text = `/readyz answers ${status} in ${Math.round(tookMs)} ms`
  if (status === 200) return { name: 'ready', state: 'ok', text }
  const remedy =
    status === 503
      ? 'The service is starting or a part of it is away: tell your operator.'
      : 'Is this the address of the service? A proxy may answer in its place.'
  return { name: 'ready', state: 'fault', text, remedy }
}

/** Tokens and signatures hold for minutes: both clocks must agree. */
function checkClock({ headers, tookMs }: { headers: Headers; tookMs: number }, nowMs: number): Check {
  const date = headers.get('date')
  if (date === null) return { name: 'clock', state: 'warning', text: 'the service tells no time' }
  const offMs = nowMs - tookMs / 2 - Date.parse(date)
  // The header has whole seconds.
  const text =
    Math.abs(offMs) < 2000
      ? 'agrees with that of the service'
      : `is ${Math.round(offMs / 1000)} s off that of the service`
  return Math.abs(offMs) < skewMs
    ? { name: 'clock', state: 'ok', text }
    : { name: 'clock', state: 'fault', text, remedy: 'Set the clock of this machine by NTP.' }
}

async function checkVersion(url: string): Promise<Check> {
  try {
    const response = await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(10_000) })
    const { info } = (await response.json()) as { info: { title: string; version: string } }
    return { name: 'service', state: 'ok', text: `${info.title} ${info.version}` }
  } catch {
    const remedy = 'Is this the address of the service, without a path behind it?'
    return { name: 'service', state: 'fault', text: 'has no /openapi.json', remedy }
  }
}

async function checkScopes(client: Client): Promise<Check> {
  const { scopes, accessTokenExpiresAt } = await readIdentity(client)
  const text = `${scopes.join(' ') || 'scopes are not told'}${accessTokenExpiresAt ? `; access token until ${accessTokenExpiresAt}` : ''}`
  const isAble =
    scopes.length === 0 ||
    scopes.includes('executor') ||
    ['read', 'run', 'build'].every((scope) => scopes.includes(scope))
  if (isAble) return { name: 'token', state: 'ok', text }
  const remedy =
    'Commands that need read, run or build beside these are refused. An admin makes a token by "pas tokens create".'
  return { name: 'token', state: 'warning', text, remedy }
}

/** A proxy that keeps answers back until they are whole holds live streams up for ever. */
async function checkStream(client: Client): Promise<Check> {
  const startedAt = performance.now()
  const leave = new AbortController()
  const tooLong = setTimeout(() => leave.abort(), 10_000)
  try {
    const response = await client.open('GET', '/events', { accept: 'text/event-stream', signal: leave.signal })
    const type = response.headers.get('content-type') ?? ''
    const text = `a live stream opens in ${Math.round(performance.now() - startedAt)} ms`
    return type.includes('text/event-stream')
      ? { name: 'streams', state: 'ok', text }
      : {
          name: 'streams',
          state: 'fault',
          text: `a live stream comes as ${type}`,
          remedy: 'A proxy changes it: let it pass text/event-stream.',
        }
  } catch (error) {
    const isHeld = leave.signal.aborted
    return {
      name: 'streams',
      state: 'fault',
      text: isHeld ? 'a live stream does not begin within 10 s' : (error as Error).message,
      ...(isHeld && {
        remedy: 'A proxy keeps answers back: switch its buffering off for text/event-stream (X-Accel-Buffering: no).',
      }),
    }
  } finally {
    clearTimeout(tooLong)
    leave.abort()
  }
}

function wordsOf(error: Error): string {
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
