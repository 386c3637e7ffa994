import type { LanguageName } from '../fields/language.ts'
import { packageRequestOf, type PackageRequest, type Reading } from '../reading/reading.ts'
import { missingFrom, type Dependencies } from './manifest.ts'
import { nameFault } from './package-name.ts'
import { pythonPackageOf } from './python-packages.ts'
import { specifierFault } from './specifier.ts'

export interface DetectionOptions {
  allowGit: boolean
  /** Names that imports find without a package; of Python's the first part. */
  without: ReadonlySet<string>
  /** Packages of PyPI by the names that they are imported by, beside those that are known here, and before them. */
  pythonImports: ReadonlyMap<string, string>
}

/**
 * The packages that a source needs, as it says by literal imports and by comments such as `@add-package name@range`.
 * What names no package, or says no version, is left out. Pure.
 */
export function detectDependencies(
  language: LanguageName,
  { packages, requests }: Pick<Reading, 'packages' | 'requests'>,
  options: DetectionOptions,
): Dependencies {
  const requested = new Map<string, string>()
  for (const [name, specifier] of requests) {
    if (isGood(language, name, specifier, options.allowGit)) requested.set(name, specifier)
  }
  const imported = new Map<string, string>()
  for (const name of packages) {
    if (options.without.has(language === 'PYTHON' ? name.split('.', 1)[0]! : name)) continue
    const [found, specifier] = packageOfImport(language, name, options.pythonImports) ?? []
    if (found !== undefined && isGood(language, found, specifier!, false)) imported.set(found, specifier!)
  }
  const explicit = Object.fromEntries(requested)
  return { ...missingFrom(language, explicit, Object.fromEntries(imported)), ...explicit }
}

function isGood(language: LanguageName, name: string, specifier: string, allowGit: boolean): boolean {
  return nameFault(language, name) === undefined && specifierFault(language, specifier, allowGit) === undefined
}

/**
 * The package that an import name means, with the version that it needs, any where that is all the same. Undefined for names
 * that several packages share.
 */
export function packageOfImport(
  language: LanguageName,
  name: string,
  pythonImports: ReadonlyMap<string, string>,
): PackageRequest | undefined {
  if (language !== 'PYTHON') return [name, '*']
  const found = pythonPackageOf(name, pythonImports)
  return found === undefined ? undefined : (packageRequestOf(language, found) ?? [found, '*'])
}
