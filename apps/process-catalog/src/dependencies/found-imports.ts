import { isBuiltin } from 'node:module'
import { ImportKind, type FoundImportSchema } from '@automation/contract/catalog/v1/source'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { packageOfImport, type DetectionOptions } from './detect.ts'
import type { Dependencies } from './manifest.ts'
import { canonicalName } from './package-name.ts'
import { isBase, isShared } from './python-packages.ts'
import type { LanguageName } from '../fields/language.ts'
import { packageOf } from '../reading/javascript.ts'
import { pythonLibrary } from '../reading/python-library.ts'
import type { Reading } from '../reading/reading.ts'

/** What runs of a team find. */
export interface Findable extends Pick<DetectionOptions, 'without' | 'pythonImports'> {
  /** References (`name`, or `name tag`) that lead to modules. */
  modules: ReadonlySet<string>
  /** The packages that the team has installed. */
  installed: Dependencies
}

type FoundImport = MessageInitShape<typeof FoundImportSchema>

/**
 * What each import of a source leads to, each name once: to what the language has itself, else to a module, else to a
 * package that is installed, as at a run. Pure.
 */
export function foundImports(language: LanguageName, { written }: Reading, findable: Findable): FoundImport[] {
  const packages = new Map(
    Object.entries(findable.installed).map(([name, version]) => [canonicalName(language, name), version]),
  )
  const below = language === 'PYTHON' ? byBeginning(findable.modules) : undefined
  const find = (name: string) =>
    below ? foundByPython(name, findable, { packages, below }) : foundByJavascript(name, findable, packages)
  const all = written.flatMap(({ name, moduleTag }) =>
    moduleTag === undefined ? find(name) : foundModule(name, moduleTag, findable),
  )
  return [...new Map(all.map((found) => [`${found.name} ${found.kind} ${found.version ?? ''}`, found])).values()]
}

function foundModule(name: string, tag: string, { modules }: Findable): FoundImport[] {
  const isThere = modules.has(tag === '' ? name : `${name} ${tag}`)
  return [{ name, kind: isThere ? ImportKind.MODULE : ImportKind.MISSING, ...(tag !== '' && { version: tag }) }]
}

type Packages = ReadonlyMap<string, string>
/** Modules by each of their names' beginnings, the whole name among them. */
type Beginnings = ReadonlyMap<string, string[]>

function foundByJavascript(name: string, { without, modules }: Findable, packages: Packages): FoundImport[] {
  if (isBuiltin(name) || without.has(name)) return [{ name, kind: ImportKind.BUILTIN }]
  if (modules.has(name)) return [{ name, kind: ImportKind.MODULE }]
  const wanted = packageOf(name) ?? name
  return [{ name: wanted, ...installed(packages.get(wanted)) }]
}

/** A dotted name leads to a module of that name, of its beginning, or of a name below it. */
function foundByPython(
  name: string,
  { without, modules, pythonImports }: Findable,
  { packages, below }: { packages: Packages; below: Beginnings },
): FoundImport[] {
  const first = name.split('.', 1)[0]!
  if (pythonLibrary.has(first) || without.has(first)) return [{ name: first, kind: ImportKind.BUILTIN }]
  const above = beginnings(name).filter((one) => one !== name && modules.has(one))
  const own = [...above, ...(below.get(name) ?? [])]
  if (own.length > 0) return own.map((one) => ({ name: one, kind: ImportKind.MODULE }))
  return [{ name: isShared(first) ? name : first, ...installed(pythonVersion(name, pythonImports, packages)) }]
}

function byBeginning(modules: Iterable<string>): Beginnings {
  const found = new Map<string, string[]>()
  for (const name of modules)
    for (const beginning of beginnings(name)) {
      const names = found.get(beginning) ?? []
      names.push(name)
      found.set(beginning, names)
    }
  return found
}

/** `a.b` → `a` and `a.b` */
function beginnings(name: string): string[] {
  return [...name.matchAll(/\.|$/g)].map(({ index }) => name.slice(0, index))
}

function pythonVersion(
  name: string,
  pythonImports: ReadonlyMap<string, string>,
  packages: Packages,
): string | undefined {
  const [wanted] = packageOfImport('PYTHON', name, pythonImports) ?? []
  const own = wanted === undefined ? undefined : packages.get(canonicalName('PYTHON', wanted))
  if (own !== undefined || (wanted !== undefined && !isBase(wanted))) return own
  // What several packages share, or bring along.
  const first = name.split('.', 1)[0]!
  const other = [...packages].find(([each]) => each.startsWith(`${first}-`))?.[1]
  return wanted === undefined || other === undefined ? other : '*'
}

function installed(version: string | undefined): Pick<FoundImport, 'kind' | 'version'> {
  if (version === undefined) return { kind: ImportKind.MISSING }
  return { kind: ImportKind.PACKAGE, ...(version !== '*' && { version }) }
}
