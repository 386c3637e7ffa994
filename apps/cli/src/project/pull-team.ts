import { remoteSuffix, mergedPath, writeCheckout } from './checkout.ts'
import { digestOf, isSame } from './canonical-json.ts'
import type { Comparison } from './compare.ts'
import { inParallel } from './in-parallel.ts'
import { mergeModule, mergePackages, mergeTeam, mergeVariables } from './merge-single.ts'
import { mergeProcess } from './merge-process.ts'
import { noFiles, type MergedFiles } from './merged-files.ts'
import { mergedText, unmergedParts, type MergedStates } from './merged-states.ts'
import type { Side } from './merge-values.ts'
import type { OpenProject } from './open-project.ts'
import { newProcessFiles } from './process-folder.ts'
import { pathsOfItem } from './project-items.ts'
import type { ServerItems } from './read-team.ts'
import { keys, type ProcessState, type ScheduleState } from './states.ts'

/** What pull did with an item, or could not do. */
export interface Pulled {
  result: 'took' | 'merged' | 'removed' | 'kept' | 'clash' | 'uncommitted'
  key: string
  /** The file that says what the server has, or that git lacks. */
  path?: string
  updatedBy?: string
  updatedAt?: string
}

/** Items that share files and are merged together. */
interface Group {
  comparisons: Comparison[]
  merged: MergedFiles
}

/**
 * Takes into the files what was changed on the server. What git lacks is neither overwritten nor removed; what clashes stays,
 * with the server's beside it, unless a side was chosen.
 */
export async function pullTeam(
  project: OpenProject,
  { server, comparisons }: { server: ServerItems; comparisons: readonly Comparison[] },
  side?: Side,
): Promise<Pulled[]> {
  const { folder, files, past, repository } = project
  const dirty = repository ? await repository.dirty('andIgnored') : undefined
  const pulled: Pulled[] = []
  const blocked = new Set<string>()
  const clashes = new Map<string, string[]>()
  for (const { comparisons: ofGroup, merged } of groups(project, server, comparisons, side)) {
    const lacking = [...merged.writes].find(
      ([path, text]) => files.has(path) && isLacking(path, dirty) && !isHeld(path, text, ofGroup),
    )
    if (lacking) {
      for (const { key } of ofGroup) blocked.add(key)
      pulled.push({ result: 'uncommitted', key: ofGroup[0]!.key, path: lacking[0] })
      continue
    }
    for (const [path, text] of merged.clashes) await writeCheckout(folder, `${path}${remoteSuffix}`, text)
    for (const [path, text] of merged.writes) await writeCheckout(folder, path, text)
    for (const { key } of ofGroup) clashes.set(key, pathsBelow(key, merged.clashes))
    pulled.push(...ofGroup.map((each) => told(each, merged, side)))
  }
  const marked = marks(project, comparisons, { blocked, clashes })
  const before = files.get(mergedPath())
  if ((before !== undefined || marked.size > 0) && mergedText(marked) !== before)
    await writeCheckout(folder, mergedPath(), mergedText(marked))
  await inParallel(16, comparisons, async (comparison) => {
    if (blocked.has(comparison.key)) return
    await remember(comparison, past.seen, side)
  })
  return pulled
}

/** What is left of a file's last state: git has it, or nothing of it is from here. */
const isLacking = (path: string, dirty: ReadonlySet<string> | undefined) => dirty === undefined || dirty.has(path)

/** Whether a file that git lacks may be written all the same: it is as the server had it, and the states seen have that. */
function isHeld(path: string, text: string | null, comparisons: readonly Comparison[]): boolean {
  return text !== null && !path.endsWith('.ts') && comparisons.every(({ verdict }) => verdict !== 'clash')
}

function groups(project: OpenProject, server: ServerItems, all: readonly Comparison[], side?: Side): Group[] {
  const { files, past } = project
  const context = past.context === undefined ? {} : { context: past.context }
  const chosen = side === undefined ? {} : { side }
  const taken = all.filter(({ verdict }) => ['theirs', 'new', 'gone', 'clash'].includes(verdict))
  const of = (kind: string) => taken.filter(({ local, remote }) => (local ?? remote!.item).kind === kind)
  const single = (merge: (comparison: Comparison) => MergedFiles) => (comparison: Comparison) => ({
    comparisons: [comparison],
    merged: merge(comparison),
  })
  const variables = of('variable')
  return [
    ...of('module').map(single((each) => mergeModule(each, files, side))),
    ...of('packages').map(single((each) => mergePackages(each, files, side))),
    ...of('team').map(single((each) => mergeTeam(each, files, side))),
    ...(variables.length === 0
      ? []
      : [{ comparisons: variables, merged: mergeVariables(variables, files, { ...context, ...chosen }) }]),
    ...[...Map.groupBy([...of('process'), ...of('schedule')], ({ key }) => key.split('/')[1]!)].map(
      ([slug, ofProcess]) => ({
        comparisons: ofProcess,
        merged: pullProcess(project, server, { slug, comparisons: ofProcess, ...context, ...chosen }),
      }),
    ),
  ]
}

function pullProcess(
  { files }: OpenProject,
  server: ServerItems,
  { slug, comparisons, ...choice }: { slug: string; comparisons: Comparison[]; context?: string; side?: Side },
): MergedFiles {
  const process = comparisons.find(({ key }) => key === keys.process(slug))
  const own = [...files.keys()].filter((path) => path.startsWith(`processes/${slug}/`))
  const remote = server.get(keys.process(slug))
  if (remote === undefined) {
    const goes = process?.verdict === 'gone' || (process?.verdict === 'clash' && choice.side === 'theirs')
    return { ...noFiles(), writes: new Map(goes ? own.map((path) => [path, null]) : []) }
  }
  const state = remote.item.state as ProcessState
  const schedules = Object.fromEntries(
    [...server.values()].flatMap(({ item }) =>
      item.kind === 'schedule' && item.process === slug ? [[item.name, item.state] as [string, ScheduleState]] : [],
    ),
  )
  if (process !== undefined && process.local === undefined)
    return { ...noFiles(), writes: choice.side === 'ours' ? new Map() : newProcessFiles(slug, state, schedules) }
  return mergeProcess({
    ...{ slug, files, remote: { state, schedules }, ...choice },
    ...(process && { process }),
    schedules: comparisons.filter((each) => each !== process),
  })
}

/** Those of the files that belong to an item. */
function pathsBelow(key: string, files: ReadonlyMap<string, unknown>): string[] {
  return [...files.keys()].filter((each) => pathsOfItem(key).some((own) => each.startsWith(own)))
}

function told({ key, verdict, local, remote }: Comparison, merged: MergedFiles, side?: Side): Pulled {
  const [path] = pathsBelow(key, merged.clashes)
  const who = {
    ...(remote?.updatedBy && { updatedBy: remote.updatedBy }),
    ...(remote?.updatedAt && { updatedAt: remote.updatedAt }),
  }
  if (verdict === 'clash' && path !== undefined) return { result: 'clash', key, path: `${path}${remoteSuffix}`, ...who }
  if (verdict === 'clash' && remote === undefined && side === undefined) return { result: 'clash', key }
  if (verdict === 'gone' || (verdict === 'clash' && remote === undefined && side === 'theirs'))
    return { result: 'removed', key }
  const isWritten = pathsBelow(key, merged.writes).length > 0
  if (verdict === 'clash' && side === 'ours' && !isWritten) return { result: 'kept', key, ...who }
  return { result: verdict === 'clash' && local !== undefined ? 'merged' : 'took', key, ...who }
}

/** Which states of the server are in the files from now on without being a state of theirs. */
function marks(
  { past }: OpenProject,
  comparisons: readonly Comparison[],
  { blocked, clashes }: { blocked: ReadonlySet<string>; clashes: ReadonlyMap<string, readonly string[]> },
): MergedStates {
  const marked = new Map(past.merged)
  for (const { key, verdict, local, remote } of comparisons) {
    if (blocked.has(key)) continue
    const server = remote && digestOf(remote.item.state)
    if (verdict === 'clash' && server !== undefined) {
      const unmerged = local && unmergedParts(local, clashes.get(key) ?? [])
      marked.set(key, [{ server, ...(unmerged && { unmerged }) }])
      continue
    }
    const kept = (marked.get(key) ?? []).filter((each) => each.server === server)
    if (kept.length === 0 || isSame(local?.state, remote?.item.state)) marked.delete(key)
    else marked.set(key, kept)
  }
  return marked
}

async function remember(
  { key, verdict, remote, base }: Comparison,
  seen: OpenProject['past']['seen'],
  side?: Side,
): Promise<void> {
  if (remote && verdict === 'new') await seen.take(remote.item, null)
  else if (remote && (verdict === 'theirs' || verdict === 'clash')) await seen.take(remote.item, base)
  else if (remote) await seen.keep(remote.item, verdict === 'same')
  else if (verdict === 'gone' || (verdict === 'clash' && side !== undefined)) await seen.remove(key)
}
