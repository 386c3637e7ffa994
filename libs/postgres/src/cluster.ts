import { randomBytes } from 'node:crypto'
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import type { Binaries } from './binaries.ts'
import { clusterFolder, passwordFile, textOf } from './found.ts'
import { followed, launch, notStarted } from './launch.ts'

/**
 * Makes the database files, once: built aside and renamed, so that a start that was cut off leaves nothing half.
 * Returns the password of the one user, `postgres`.
 */
export async function ensureCluster(dataDir: string, binaries: Binaries, durable: boolean): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const password = await textOf(passwordFile(dataDir))
  const made = await exists(clusterFolder(dataDir))
  if (made && password !== undefined) return password
  if (made)
    throw notStarted(`${passwordFile(dataDir)} is missing beside its data. Put it back, or start with another DATA_DIR`)
  const fresh = randomBytes(24).toString('hex')
  await writeFile(passwordFile(dataDir), fresh, { mode: 0o600 })
  const aside = `${clusterFolder(dataDir)}.new`
  await rm(aside, { recursive: true, force: true })
  await initialise(dataDir, aside, binaries, durable)
  await rename(aside, clusterFolder(dataDir))
  return fresh
}

async function initialise(dataDir: string, folder: string, binaries: Binaries, durable: boolean): Promise<void> {
  const lines: string[] = []
  const child = launch(dataDir, binaries.initdb, [
    ...['--pgdata', folder, '--username', 'postgres', '--pwfile', passwordFile(dataDir), '--auth', 'scram-sha-256'],
    ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
    ...['--no-instructions', ...(durable ? [] : ['--no-sync'])],
  ])
  const code = await followed(child, (line) => lines.push(line))
  if (code !== 0) throw notStarted(`initdb ended with ${code}: ${lines.slice(-5).join(' ')}`)
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
