import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isAllowed } from '../check/licences.ts'

/** A package of others whose code is in a bundle. */
interface Bundled {
  name: string
  version: string
  licence: string
  /** Of its files of licences and notices; empty where it comes without. */
  texts: string[]
}

const isOfLicence = /^(licen[cs]e|copying|notice)/i

/**
 * What goes beside a bundle: each package of others that is in it, with its licence and the texts that must go with the
 * code. Undefined where there is none. Throws where a licence is none of those that may be bundled.
 */
export async function licencesOf(modules: Iterable<string>): Promise<string | undefined> {
  const folders = new Set([...modules].flatMap((path) => packageFolder(path) ?? []))
  const bundled = await Promise.all([...folders].map(bundledIn))
  const refused = bundled.filter(({ licence }) => !isAllowed(licence))
  if (refused.length > 0)
    throw new Error(`may not be bundled: ${refused.map(({ name, licence }) => `${name} (${licence})`).join(', ')}`)
  if (bundled.length === 0) return undefined
  const sorted = bundled.toSorted((a, b) => a.name.localeCompare(b.name))
  const parts = sorted.map(({ name, version, licence, texts }) =>
    [`${name} ${version}`, `Licence: ${licence}`, ...texts.map((text) => `\n${text.trim()}`)].join('\n'),
  )
  return `This program contains the following packages.\n\n${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

/** The folder of the package that a module is of; undefined for ours. */
function packageFolder(path: string): string | undefined {
  const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? []
  return folder !== undefined && existsSync(join(folder, 'package.json')) ? folder : undefined
}

async function bundledIn(folder: string): Promise<Bundled> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Partial<Record<string, string>>
  const names = (await readdir(folder)).filter((name) => isOfLicence.test(name)).toSorted()
  return {
    name: manifest['name'] ?? basename(folder),
    version: manifest['version'] ?? '',
    licence: manifest['license'] ?? 'none',
    texts: await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8'))),
  }
}
