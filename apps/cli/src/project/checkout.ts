import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { Files } from './process-folder.ts'

const folders = ['processes', 'modules', 'dependencies']
const single = ['pas.yaml', 'variables.yaml', mergedPath()]
/** Where a merge leaves what the server has, beside the file that clashes. */
export const remoteSuffix = '.remote'
const read =
  /(?:^processes\/[^/]+\/(?:main\.(?:js|ts|py)|process\.yaml|parameters\.schema\.json|README\.md)|^modules\/[^/]+\.(?:js|ts|py)|^dependencies\/(?:package\.json|requirements\.txt))(?:\.remote)?$/

/** The file that says which states of the server have been merged into this history. */
export function mergedPath(): string {
  return 'merged.yaml'
}

/** Reads the files of a project that mean something, with those that a merge has left. */
export async function readCheckout(folder: string): Promise<Files> {
  const found = await Promise.all(folders.map((name) => filesBelow(folder, name)))
  const paths = [
    ...found.flat().filter((path) => read.test(path)),
    ...single,
    `variables.yaml${remoteSuffix}`,
    `pas.yaml${remoteSuffix}`,
  ]
  const texts = new Map<string, string>()
  // Not all at once: a program has a limit of open files.
  for (let at = 0; at < paths.length; at += 200)
    await Promise.all(
      paths.slice(at, at + 200).map(async (path) => {
        const text = await readText(join(folder, path))
        if (text !== undefined) texts.set(path, text)
      }),
    )
  return new Map([...texts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Writes or, where the text is null, removes a file; a crash leaves the old or the new one. */
export async function writeCheckout(folder: string, path: string, text: string | null): Promise<void> {
  const whole = join(folder, path)
  // A slug or a name of the server's is no way out of the project.
  if (relative(folder, whole).startsWith('..')) throw new Error(`${path} is outside of the project`)
  if (text === null) return rm(whole, { force: true })
  await mkdir(dirname(whole), { recursive: true })
  const fresh = `${whole}.pas-new`
  await writeFile(fresh, text)
  await rename(fresh, whole)
}

/** The text of a file; undefined where there is none. */
export async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'EISDIR') return undefined
    throw error
  })
}

async function filesBelow(folder: string, name: string): Promise<string[]> {
  const entries = await readdir(join(folder, name), { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    },
  )
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
}
