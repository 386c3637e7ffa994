import type { DetectionOptions } from '../dependencies/detect.ts'
import { detectDependencies } from '../dependencies/detect.ts'
import { manifestOf, manifestText, missingFrom, type Dependencies } from '../dependencies/manifest.ts'
import { planScopedSave, planTeamSave, type InstalledSet } from '../dependencies/plan.ts'
import type { LanguageName } from '../fields/language.ts'
import type { ProcessColumns } from '../processes/process-values.ts'
import type { Reading } from '../reading/reading.ts'
import { manifestRow } from './dependencies.ts'
import type { Rows } from './store.ts'

/** What a save makes of a process, before it is written. */
interface SavedProcess {
  id: string
  team: string
  language: LanguageName
  dependencies: string
  dependenciesScopedToProcess: boolean
  /** What its source says, where its packages are detected. */
  reading: Reading | undefined
}

/** What of a process decides on its packages. */
const deciding: (keyof ProcessColumns)[] = [
  'sourceCode',
  'dependencies',
  'dependenciesScopedToProcess',
  'dependenciesAutoDetect',
]

/** Whether a change of these columns may ask for other packages. */
export function decidesOnDependencies(columns: Partial<ProcessColumns>): boolean {
  return deciding.some((name) => columns[name] !== undefined)
}

/**
 * Asks for the packages that a saved process needs: its own where it has a set of its own, and those that its source
 * names where they are detected. Gives the columns of its row that change.
 */
export async function settleDependencies(rows: Rows, process: SavedProcess, options: DetectionOptions) {
  const { id, team, language, reading, dependenciesScopedToProcess: isScoped } = process
  const own = manifestOf(process.dependencies)
  const nothing = { awaitedDependencies: null, dependenciesError: null }
  if (reading === undefined && !isScoped) return nothing
  const found = reading === undefined ? {} : await detected(rows, process, reading, options)
  const wanted = { ...own, ...missingFrom(language, own, found) }
  if (!isScoped && Object.keys(found).length === 0) return nothing
  const manifest = await manifestRow(rows, team, language, isScoped ? id : null)
  const { awaits, change } = isScoped
    ? planScopedSave(manifest, wanted, await installedSet(rows, team, language, wanted))
    : planTeamSave(manifest, found)
  if (Object.keys(change).length > 0)
    await rows.dependencyManifest.update({ where: { id: manifest.id }, data: { ...change, updatedAt: new Date() } })
  const awaitedDependencies = awaits.length === 0 ? null : JSON.stringify(awaits)
  return {
    ...nothing,
    awaitedDependencies,
    ...(isScoped && reading !== undefined && { dependencies: manifestText(wanted) }),
  }
}

/** The newest set of just these packages that is installed for something of the team. */
export async function installedSet(
  rows: Rows,
  team: string,
  language: LanguageName,
  wanted: Dependencies,
): Promise<InstalledSet | undefined> {
  if (Object.keys(wanted).length === 0) return undefined
  const found = await rows.dependencyManifest.findFirst({
    where: { team, language, installed: manifestText(wanted), setKey: { not: null } },
    orderBy: { updatedAt: 'desc' },
    select: { setKey: true, digest: true },
  })
  return found?.setKey ? { setKey: found.setKey, digest: found.digest ?? '' } : undefined
}

/** Team modules come before packages, so a name that is one's asks for no package. */
async function detected(
  rows: Rows,
  { team, language }: SavedProcess,
  reading: Reading,
  options: DetectionOptions,
): Promise<Dependencies> {
  const modules = await importedModules(rows, team, language, reading.imports)
  // Packages are known by the first part of a dotted name.
  const names = modules.map((name) => (language === 'PYTHON' ? name.split('.', 1)[0]! : name))
  return detectDependencies(language, reading, { ...options, without: new Set([...options.without, ...names]) })
}

/** Those of these imports that the team or a parent has a module for. */
async function importedModules(rows: Rows, team: string, language: LanguageName, imports: string[]): Promise<string[]> {
  const wanted = imports.map((reference) => reference.split(' ', 1)[0]!)
  if (wanted.length === 0) return []
  const found = await rows.$queryRaw<{ name: string }[]>`
    SELECT DISTINCT name FROM modules
    WHERE language = ${language} AND name = ANY (${wanted})
      AND (team = ${team} OR team IN (SELECT parent FROM inheritance WHERE child = ${team}))`
  return found.map(({ name }) => name)
}
