import { isIP } from 'node:net'
import { exitCodes, ExitError } from '../exit.ts'
import type { Target } from './choose-target.ts'
import { open, seal } from './keyring.ts'
import { alone, configPath, readJson, writeJson } from './private-file.ts'

/** What somebody signed in with. */
export type Credential =
  | { kind: 'apiToken'; apiToken: string }
  | {
      /** Signed in at an issuer by its device flow. */
      kind: 'device'
      issuer: string
      clientId: string
      accessToken: string
      /** Unix time in ms. */
      expiresAt?: number
      refreshToken?: string
    }

/** As it is stored: plain in a file that its owner alone may read, or encrypted under a key that the OS keeps. */
type Stored = Credential | { kind: 'sealed'; sealed: string }

type Environment = Readonly<Record<string, string | undefined>>

/** The stored credential of a target. */
export async function readCredential(env: Environment, target: Target): Promise<Credential | undefined> {
  const stored = (await readAll(env))[nameOf(target)]
  if (stored?.kind !== 'sealed') return stored
  return JSON.parse(await open(stored.sealed)) as Credential
}

/** Whether the credential of a target is encrypted under a key that the OS keeps. */
export async function isSealed(env: Environment, target: Target): Promise<boolean> {
  return (await readAll(env))[nameOf(target)]?.kind === 'sealed'
}

/** Stores the credential of a target, in place of the one before. */
export async function writeCredential(
  env: Environment,
  target: Target,
  credential: Credential,
  options: { keyring: boolean },
): Promise<void> {
  const stored: Stored = options.keyring
    ? { kind: 'sealed', sealed: await seal(JSON.stringify(credential)) }
    : credential
  await writeJson(path(env), { ...(await readAll(env)), [nameOf(target)]: stored })
}

/** Does work with the stored credentials that no other program of the user does at the same time. */
export function aloneWithCredentials<T>(env: Environment, work: () => Promise<T>): Promise<T> {
  return alone(path(env), work)
}

/** Forgets the credential of a target; false where there was none. */
export async function removeCredential(env: Environment, target: Target): Promise<boolean> {
  const { [nameOf(target)]: removed, ...others } = await readAll(env)
  if (removed === undefined) return false
  await writeJson(path(env), others)
  return true
}

/** Refuses to send a secret where others can read it on its way: only https, or this machine. */
export function refuseOpenWay(url: string): void {
  if (new URL(url).protocol === 'https:' || isThisMachine(url)) return
  throw new ExitError(
    exitCodes.usage,
    `${url} is not encrypted: a token sent there could be read on its way. Use https.`,
  )
}

/** Whether an address is of this machine alone. */
export function isThisMachine(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'))
}

async function readAll(env: Environment): Promise<Record<string, Stored>> {
  return (await readJson<Record<string, Stored>>(path(env))) ?? {}
}

const path = (env: Environment) => configPath(env, 'credentials.json')
const nameOf = ({ url, team }: Target) => `${url} ${team}`
