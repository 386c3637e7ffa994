import { invalid } from '@automation/errors'
import { Faults } from '@automation/errors/faults'
import type { LanguageName } from '../fields/language.ts'
import { limits } from '../fields/limits.ts'
import { pointerSegment } from '../fields/text.ts'
import { canonicalName, nameFault } from './package-name.ts'
import { bareSpecifier, specifierFault } from './specifier.ts'

/** Package names to version specifiers. */
export type Dependencies = Readonly<Record<string, string>>

/** Checks a manifest that somebody wrote below this path; fails with the paths of all entries at fault. */
export function checkManifest(
  path: string,
  language: LanguageName,
  dependencies: Dependencies,
  allowGit: boolean,
): void {
  const entries = Object.entries(dependencies)
  if (entries.length > limits.dependencyCount)
    throw invalid(path, `must have at most ${limits.dependencyCount} entries`)
  const faults = new Faults()
  const names = new Map<string, string>()
  for (const [name, specifier] of entries) {
    const at = `${path}/${pointerSegment(name.slice(0, limits.nameCharacters).replaceAll('\0', ''))}`
    const canonical = canonicalName(language, name)
    const other = names.get(canonical)
    const twice = other === undefined ? undefined : `names the same package as ${other}`
    const bare = bareSpecifier(language, specifier)
    const fault = nameFault(language, name) ?? specifierFault(language, bare, allowGit) ?? twice
    if (fault === undefined) names.set(canonical, name)
    else faults.add(at, fault)
  }
  faults.check()
}

/** A stored manifest. */
export function manifestOf(text: string | null): Dependencies {
  return text === null ? {} : (JSON.parse(text) as Dependencies)
}

/** What an installer is given of a stored manifest. */
export function installable(language: LanguageName, text: string | null): Dependencies {
  const entries = Object.entries(manifestOf(text))
  return Object.fromEntries(entries.map(([name, specifier]) => [name, bareSpecifier(language, specifier)]))
}

/** As it is stored: equal for equal manifests. */
export function manifestText(dependencies: Dependencies): string {
  return JSON.stringify(Object.fromEntries(Object.entries(dependencies).sort(([a], [b]) => (a < b ? -1 : 1))))
}

/** The entries of `found` whose packages are not in `there`. */
export function missingFrom(language: LanguageName, there: Dependencies, found: Dependencies): Dependencies {
  const names = new Set(Object.keys(there).map((name) => canonicalName(language, name)))
  return Object.fromEntries(Object.entries(found).filter(([name]) => !names.has(canonicalName(language, name))))
}
