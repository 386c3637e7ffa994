import type { LanguageName } from '../language.ts'
import type { Reading } from '../reading/reading.ts'
import { packageOfImport } from './import-names.ts'
import { missingFrom, type Dependencies } from './manifest.ts'
import { nameFault } from './package-name.ts'
import { specifierFault } from './specifier.ts'

export interface DetectionOptions {
  allowGit: boolean
  /** Names that imports find without a package. */
  without: ReadonlySet<string>
}

/**
 * The packages that a source needs, as it says by literal imports and by comments such as `@add-package name@range`.
 * What names no package, or says no version, is left out. Pure.
 */
export function detectDependencies(
  language: LanguageName,
  { packages, wishes }: Pick<Reading, 'packages' | 'wishes'>,
  options: DetectionOptions,
): Dependencies {
  const wished = new Map<string, string>()
  for (const [name, specifier] of wishes) {
    if (isGood(language, name, specifier, options.allowGit)) wished.set(name, specifier)
  }
  const imported = new Map<string, string>()
  for (const name of packages) {
    if (options.without.has(name)) continue
    const found = packageOfImport(language, name)
    if (found !== undefined && isGood(language, found, '*', false)) imported.set(found, '*')
  }
  const explicit = Object.fromEntries(wished)
  return { ...missingFrom(language, explicit, Object.fromEntries(imported)), ...explicit }
}

function isGood(language: LanguageName, name: string, specifier: string, allowGit: boolean): boolean {
  return nameFault(language, name) === undefined && specifierFault(language, specifier, allowGit) === undefined
}
