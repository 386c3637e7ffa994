import { isUtf8 } from 'node:buffer'
import type { Dirent } from 'node:fs'
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { usageError } from '../exit.ts'
import type { Files } from './process-folder.ts'

const folders = ['processes', 'modules', 'dependencies']
const single = ['pas.yaml', 'variables.yaml', mergedPath()]
/** Where a merge leaves what the server has, beside the file that clashes. */
export const remoteSuffix = '.remote'
const read =
  /(?:^processes\/[^/]+\/(?:main\.(?:js|ts|py)|process\.yaml|parameters\.schema\.json|README\.md)|^modules\/[^/]+\.(?:js|ts|py)|^dependencies\/(?:package\.json|requirements\.txt))(?:\.remote)?$/

/** Whether a path is that of a file that means something, or of a process's folder. */
const isMeant = (path: string) => read.test(path) || /^processes\/[^/]+$/.test(path)

/** The file that says which states of the server have been merged into this history. */
export function mergedPath(): string {
  return 'merged.yaml'
}

/** Reads the files of a project that mean something, with those that a merge has left. */
export async function readCheckout(folder: string): Promise<Files> {
  const found = await Promise.all(folders.map((name) => filesBelow(folder, name, isMeant)))
  await Promise.all(single.map((path) => refuseLink(folder, path)))
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
  // A slug or a name of the server's leads to its own place, and to no other in the project or outside of it.
  if (path.split('/').some((part) => ['', '.', '..'].includes(part))) throw new Error(`${path} is no path of a project`)
  await refuseLink(folder, dirname(path))
  if (text === null) return rm(whole, { force: true })
  await mkdir(dirname(whole), { recursive: true })
  const fresh = `${whole}.pas-new`
  // What is there may be a link to somewhere else.
  await rm(fresh, { force: true })
  await writeFile(fresh, text, { flag: 'wx' })
  await rename(fresh, whole)
}

/** Throws where a path of the project, or a folder on the way to it, is a symbolic link: it may lead outside of the project. */
export async function refuseLink(folder: string, path: string): Promise<void> {
  const parts = path.split('/')
  for (const [index] of parts.entries()) {
    const part = parts.slice(0, index + 1).join('/')
    const stats = await lstat(join(folder, part)).catch(ifThere)
    if (stats?.isSymbolicLink()) throw linkError(part)
  }
}

const linkError = (path: string) =>
  usageError(
    `${path} is a symbolic link, and files of a project are not read or written through links. Put what it leads to in its place.`,
  )

function ifThere(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
  throw error
}

/** The text of a file; undefined where there is none. Throws a usage error where it is not UTF-8. */
export async function readText(path: string): Promise<string | undefined> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'EISDIR') return undefined
    throw error
  })
  if (bytes !== undefined && !isUtf8(bytes)) throw usageError(`${path} is not UTF-8: save it so.`)
  return bytes?.toString()
}

/** The files in a folder of a project. Throws where what is meant is a symbolic link. */
export async function filesBelow(folder: string, name: string, isMeant: (path: string) => boolean): Promise<string[]> {
  await refuseLink(folder, name)
  const entries = await readdir(join(folder, name), { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    },
  )
  const pathOf = ({ parentPath, name }: Dirent) => relative(folder, join(parentPath, name)).split(sep).join('/')
  const link = entries.find((entry) => entry.isSymbolicLink() && isMeant(pathOf(entry)))
  if (link) throw linkError(pathOf(link))
  return entries.filter((entry) => entry.isFile()).map(pathOf)
}
