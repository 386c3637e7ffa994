import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

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
