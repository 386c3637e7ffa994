import { createHash, createPrivateKey, sign, type KeyObject } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** The files below a folder by their paths from it, sorted, but for the blobs of images, which have their digests as names. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith('images/blobs/'))
    .toSorted()
}

/** A private key that makes signatures which `cosign verify-blob` and `openssl dgst` read; rejects where it is of another kind. */
export async function readKey(file: string): Promise<KeyObject> {
  let key: KeyObject
  try {
    key = createPrivateKey(await readFile(file))
  } catch (error) {
    throw new Error(`${file} is no private key in PEM without a password: ${(error as Error).message}`, {
      cause: error,
    })
  }
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new Error(`${file} must be a key of the curve P-256: openssl ecparam -genkey -noout -name prime256v1`)
  return key
}

/** Writes SHA256SUMS, as `sha256sum --check` reads it, and with a key SHA256SUMS.sig: its signature in base64. */
export async function writeChecksums(folder: string, key: KeyObject | undefined): Promise<void> {
  const lines = (await filesBelow(folder)).map(async (path) => {
    const hash = createHash('sha256').update(await readFile(join(folder, path)))
    return `${hash.digest('hex')}  ${path}\n`
  })
  const sums = (await Promise.all(lines)).join('')
  await writeFile(join(folder, 'SHA256SUMS'), sums)
  if (key === undefined) return
  await writeFile(join(folder, 'SHA256SUMS.sig'), sign('sha256', Buffer.from(sums), key).toString('base64'))
}
