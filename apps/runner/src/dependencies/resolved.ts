import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Language } from '@automation/contract/common/v1/language'

const mostPackages = 1000
const packageJsonBytes = 262_144
const version = /^[A-Za-z0-9][A-Za-z0-9.!+_-]{0,99}$/
const name = /^(@[A-Za-z0-9][A-Za-z0-9._~-]{0,99}\/)?[A-Za-z0-9][A-Za-z0-9._~-]{0,199}$/

/**
 * The versions of the packages in a folder that an installer has made, by their names, at most 1000. Packages that say
 * nothing of the kind are left out: whoever made them could say anything.
 */
export async function resolvedVersions(language: Language, files: string): Promise<Record<string, string>> {
  const found = language === Language.PYTHON ? await pythonVersions(files) : await nodeVersions(files)
  const known = found.filter(([of, is]) => name.test(of) && version.test(is)).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(known.slice(0, mostPackages))
}

/** Folders such as `requests-2.32.3.dist-info`. */
async function pythonVersions(files: string): Promise<[string, string][]> {
  return (await entriesOf(join(files, 'site-packages'))).flatMap((entry): [string, string][] => {
    const match = /^([^-]+)-([^-]+)\.dist-info$/.exec(entry)
    return match === null ? [] : [[match[1]!.replaceAll(/[_.]+/g, '-').toLowerCase(), match[2]!]]
  })
}

async function nodeVersions(files: string): Promise<[string, string][]> {
  const root = join(files, 'node_modules')
  const names: string[] = []
  for (const entry of await entriesOf(root)) {
    if (entry.startsWith('@')) names.push(...(await entriesOf(join(root, entry))).map((inner) => `${entry}/${inner}`))
    else if (!entry.startsWith('.')) names.push(entry)
  }
  const found: [string, string][] = []
  for (const each of names.slice(0, mostPackages)) {
    const is = await packageVersion(join(root, each, 'package.json'))
    if (is !== undefined) found.push([each, is])
  }
  return found
}

async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    // A set without packages has none; a package may be a file.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}

async function packageVersion(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(packageJsonBytes), 0, packageJsonBytes, 0)
    const said: unknown = JSON.parse(buffer.toString('utf8', 0, bytesRead))
    const is: unknown = typeof said === 'object' && said !== null && 'version' in said ? said.version : undefined
    return typeof is === 'string' ? is : undefined
  } catch {
    // Whatever a package has in place of a description, it is installed.
    return undefined
  } finally {
    await file.close()
  }
}
