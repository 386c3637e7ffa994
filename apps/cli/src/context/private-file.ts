import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

type Environment = Readonly<Record<string, string | undefined>>

/** The path of a file of this program in the user's configuration folder (XDG_CONFIG_HOME). */
export function configPath(env: Environment, name: string): string {
  return join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'pas', name)
}

/** The JSON in a file; undefined where there is no file. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as T
  } catch (error) {
    throw new Error(`${path} is damaged. Remove it and sign in again by "pas login".`, { cause: error })
  }
}

/** Replaces a file that only its owner may read; a crash leaves the old one or the new one. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const fresh = `${path}.${randomUUID()}`
  try {
    await writeFile(fresh, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    await rename(fresh, path)
  } finally {
    await rm(fresh, { force: true })
  }
}

/** Whoever holds a lock for longer was killed. */
const longestHeldMs = 60_000

/** Does work on a file that no other program does at the same time. */
export async function alone<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  while (!(await takes(lock))) await delay(50)
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

async function takes(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, '', { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const held = await stat(lock).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (held && held.mtimeMs < Date.now() - longestHeldMs) await rm(lock, { force: true })
  return false
}
