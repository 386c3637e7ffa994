import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'

/** The secret in a file, if the file is there. */
export function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Keeps a secret in a file that only its owner may read; it is on disk, whole, when this returns. */
export function keepSecret(path: string, secret: string): void {
  const aside = `${path}.new`
  const file = openSync(aside, 'w', 0o600)
  try {
    writeSync(file, `${secret}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(aside, path)
}

/** The key in a file; 256 random bits in hexadecimal when there is none yet. */
export function readOrMakeKey(path: string): string {
  const kept = readSecret(path)
  if (kept !== undefined) {
    chmodSync(path, 0o600)
    return kept
  }
  const fresh = randomBytes(32).toString('hex')
  keepSecret(path, fresh)
  return fresh
}
