import { isRecord } from './canonical-json.ts'
import type { Language, PackagesState } from './states.ts'

/** The files of the team's packages. */
export const packageFiles: Readonly<Record<Language, string>> = {
  JAVASCRIPT: 'dependencies/package.json',
  PYTHON: 'dependencies/requirements.txt',
}

/** Reads the packages of a file; throws with what is wrong. */
export function readPackages(language: Language, text: string): PackagesState {
  return language === 'JAVASCRIPT' ? readPackageJson(text) : readRequirements(text)
}

/** A file with these packages: all else in it stays, in requirements.txt also comments and the lines of those that stay. */
export function packagesText(language: Language, packages: PackagesState, before: string | undefined): string {
  if (language === 'PYTHON') return requirementsText(packages, before ?? '')
  const holder: unknown = before === undefined ? {} : JSON.parse(before)
  return `${JSON.stringify({ ...(isRecord(holder) ? holder : {}), dependencies: packages }, null, 2)}\n`
}

function readPackageJson(text: string): PackagesState {
  const value: unknown = JSON.parse(text)
  const dependencies = isRecord(value) ? (value['dependencies'] ?? {}) : undefined
  if (!isRecord(dependencies) || Object.values(dependencies).some((version) => typeof version !== 'string'))
    throw new Error('"dependencies" must be a map of names to versions')
  return dependencies as PackagesState
}

const requirement = /^([A-Za-z0-9][A-Za-z0-9._-]*(?:\[[^\]]*\])?)\s*(?:@\s*(\S+)|([<>=!~].*))?$/

function readRequirements(text: string): PackagesState {
  return Object.fromEntries(
    text.split('\n').flatMap((line, index) => {
      const bare = line.replace(/(^|\s)#.*$/, '').trim()
      if (bare === '') return []
      const [, name, address, specifier] = requirement.exec(bare) ?? []
      if (name === undefined)
        throw new Error(`line ${index + 1} is no requirement: name and specifier, such as requests>=2`)
      return [[name, address ?? specifier?.replaceAll(' ', '') ?? '*']]
    }),
  )
}

function requirementsText(packages: PackagesState, before: string): string {
  const rest = new Map(Object.entries(packages))
  const lines = before.split('\n').flatMap((line) => {
    const [entry] = Object.entries(readRequirements(line))
    if (entry === undefined) return [line]
    const [name, version] = entry
    const wanted = rest.get(name)
    rest.delete(name)
    if (wanted === undefined) return []
    return [wanted === version ? line : requirementLine(name, wanted)]
  })
  while (lines.at(-1) === '') lines.pop()
  return [...lines, ...[...rest].map(([name, version]) => requirementLine(name, version)), ''].join('\n')
}

function requirementLine(name: string, version: string): string {
  const bare = version.trim()
  if (bare === '' || bare === '*') return name
  return /^[<>=!~]/.test(bare) ? `${name}${bare}` : `${name} @ ${bare}`
}
