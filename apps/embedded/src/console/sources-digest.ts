import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where the console's sources are, and what is made of them. */
export const consoleFolder = fileURLToPath(new URL('../../../console/', import.meta.url))
export const builtFolder = join(consoleFolder, 'dist')

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const digestFile = '.digest'

// What no build reads.
const left = /^(?:dist|node_modules|test)(?:\/|$)|(?:^|\/)\./

/** The SHA-256 of all that the console is built from: its sources, by name and content, and the lock of packages. */
export async function sourcesDigest(): Promise<string> {
  const found = await readdir(consoleFolder, { recursive: true, withFileTypes: true })
  const paths = found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(consoleFolder.length))
    .filter((path) => !left.test(path))
    .toSorted()
  const hash = createHash('sha256')
  for (const path of [...paths.map((one) => join(consoleFolder, one)), join(root, 'package-lock.json')]) {
    const content = await readFile(path)
    hash.update(`${path.slice(root.length)}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

/** Of what the last build was made; undefined where there was none. */
export async function builtDigest(folder: string = builtFolder): Promise<string | undefined> {
  try {
    return (await readFile(join(folder, digestFile), 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}

/** The name of the file that has it, in the folder of a build. No path of the console leads there. */
export { digestFile }
