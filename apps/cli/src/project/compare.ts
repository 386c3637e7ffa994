import { digestOf, isRecord, isSame } from './canonical-json.ts'
import { inParallel } from './in-parallel.ts'
import { pathsOfItem, projectItems } from './project-items.ts'
import { isMerged, type MergedStates } from './merged-states.ts'
import type { Repository } from './repository.ts'
import type { Seen, SeenStates } from './seen-states.ts'
import type { ServerItem } from './server-items.ts'
import type { ServerItems } from './read-team.ts'
import {
  keys,
  membersOf,
  moduleDigestOf,
  processDigestOf,
  type Item,
  type Items,
  type ModuleState,
  type ProcessState,
} from './states.ts'
import { decide, type Verdict } from './verdict.ts'
import { mergeText } from './merge-text.ts'
import { mergeValues } from './merge-values.ts'

/** An item, as files and server have it. */
export interface Comparison {
  key: string
  verdict: Verdict
  local?: Item
  remote?: ServerItem
  /** What both have come from, as far as it is known. */
  base?: Item['state']
  /** The commit whose files the server has, where it is known. */
  commit?: string
  /** Whether it was this repository that has written what the server has. */
  isOurs?: boolean
}

/** What is known of the past. */
export interface Past {
  repository?: Repository
  seen: SeenStates
  merged: MergedStates
  /** The name of the context that states are read for. */
  context?: string
  /** Digests of the states that the server had of an item before, the newest first. */
  previousStates(item: ServerItem): Promise<readonly string[]>
}

/** Compares all items, or those that `isWanted` takes; `isOverwritten` says which are to replace what the server has. */
export async function compareItems(
  local: Items,
  server: ServerItems,
  past: Past,
  isWanted: (key: string) => boolean = () => true,
  isOverwritten: (key: string) => boolean = () => false,
): Promise<Comparison[]> {
  const all = [...new Set([...local.keys(), ...server.keys()])].filter(isWanted)
  const compared = await inParallel(8, all, (key) => compareItem(key, local.get(key), server.get(key), past))
  const verdicts = new Map(compared.map(({ key, verdict }) => [key, verdict]))
  const isMade = (process: string) =>
    verdicts.get(process) === 'create' || (local.has(process) && !server.has(process) && isOverwritten(process))
  return compared.flatMap((comparison): Comparison[] => {
    const { key, local: own, remote } = comparison
    const item = own ?? remote?.item
    if (item?.kind !== 'schedule') return [comparison]
    const process = keys.process(item.process)
    // The process that it was seen with is another one.
    if (isMade(process)) return own ? [{ key, local: own, verdict: 'create' }] : []
    return isWithProcess(process, verdicts, server) ? [comparison] : []
  })
}

/** Whether a schedule is a matter of its own: where its process goes on one side it goes with it. */
function isWithProcess(process: string, verdicts: ReadonlyMap<string, Verdict>, server: ServerItems): boolean {
  const verdict = verdicts.get(process)
  return verdict !== 'delete' && verdict !== 'gone' && server.has(process)
}

async function compareItem(
  key: string,
  local: Item | undefined,
  whole: ServerItem | undefined,
  past: Past,
): Promise<Comparison> {
  const remote = key === keys.team && whole ? onlyNamed(whole, local) : isEmpty(whole?.item) ? undefined : whole
  const found = { key, ...(local && { local }), ...(remote && { remote }) }
  const digests = { local: local && digestOf(local.state), remote: remote && digestOf(remote.item.state) }
  if (key === keys.team && local === undefined) return { ...found, verdict: 'same' }
  if (digests.local === digests.remote) return { ...found, verdict: 'same' }
  if (remote === undefined && isEmpty(local)) return { ...found, verdict: 'same' }
  if (remote === undefined) {
    const seen = await usableSeen(key, past, local?.state)
    const verdict = decide({ ...digests, isKnown: false, base: seen?.digest, wasHere: seen !== undefined })
    return { ...found, verdict, ...(seen && { base: seen.state }) }
  }
  const origin = await baseOf(key, remote, past, local?.state)
  const verdict = decide({ ...digests, ...origin, base: origin.base && digestOf(origin.base) })
  return {
    ...found,
    verdict,
    ...(origin.base && { base: origin.base }),
    ...(origin.commit && { commit: origin.commit }),
    isOurs: origin.isOurs,
  }
}

/** A list of no packages is as good as none. */
function isEmpty(item: Item | undefined): boolean {
  return item?.kind === 'packages' && Object.keys(item.state).length === 0
}

interface FoundBase {
  isKnown: boolean
  base?: Item['state']
  commit?: string
  wasHere: boolean
  isOurs: boolean
}

/**
 * Finds what the server's state has come from. It is known where it is the state of the commit that it was pushed from, of
 * another commit before HEAD, of a merge, or the last that this checkout has seen. Else the base is the last state that the
 * server had and that is in the files, the history or what this checkout has seen, or the files of the commit that both build
 * on.
 */
async function baseOf(
  key: string,
  remote: ServerItem,
  past: Past,
  local: Item['state'] | undefined,
): Promise<FoundBase> {
  const { repository } = past
  const { state } = remote.item
  const digest = digestOf(state)
  const origin = remote.origin ?? remote.processOrigin
  const isOurs = (await repository?.isSelf(origin?.repository)) ?? false
  const pushed = isOurs ? origin?.commit : undefined
  const has = async (commit: string) => {
    const item = await itemAt(commit, key, past)
    if (item === undefined) return false
    const { state: then } = item
    if ('formerState' in item && isSame(item.formerState, state)) return true
    return digestOf(key === keys.team ? membersOf(state, then) : state) === digestOf(then)
  }
  if (repository && pushed && (await repository.isInHistory(pushed)) && (await has(pushed)))
    return { isKnown: true, base: state, commit: pushed, wasHere: true, isOurs }
  const commits = repository ? await commitsOf(key, repository) : []
  for (const commit of commits)
    if (await has(commit)) return { isKnown: true, base: state, commit, wasHere: true, isOurs }
  const seen = await usableSeen(key, past, local)
  if (isMerged(past.merged.get(key), digest, local) || seen?.digest === digest)
    return { isKnown: true, base: state, wasHere: true, isOurs }
  // Settings of a team that nobody has changed yet are those that it was made with.
  if (key === keys.team && remote.updatedBy === undefined) return { isKnown: true, wasHere: false, isOurs }
  const base =
    (await lastCommon(remote, past, [local, seen?.state], commits)) ??
    (repository && pushed ? await commonState(pushed, key, past, repository) : undefined) ??
    seen?.state
  const wasHere = seen !== undefined || (await wasEver(key, commits, past))
  return { isKnown: false, wasHere, isOurs, ...(base && { base }) }
}

/** The last state that the server had before its present one and that is one of these, or of these commits. */
async function lastCommon(
  remote: ServerItem,
  past: Past,
  own: readonly (Item['state'] | undefined)[],
  commits: readonly string[],
): Promise<Item['state'] | undefined> {
  const previous = await past.previousStates(remote)
  if (previous.length === 0) return undefined
  const ofCommits = commits.map((commit) => stateAt(commit, remote.item.key, past))
  const states = [...own, ...(await Promise.all(ofCommits))]
  const byDigest = new Map(states.map((state) => [state && shownDigest(remote.item, state), state]))
  const found = previous.find((digest) => byDigest.has(digest))
  return byDigest.get(found)
}

/** A digest of a state as the server makes it. */
function shownDigest({ kind, name }: Item, state: Item['state']): string | undefined {
  if (kind === 'process') return processDigestOf(name, state as ProcessState)
  return kind === 'module' ? moduleDigestOf(name, state as ModuleState) : undefined
}

/** The state in the commit that HEAD and another one build on. */
async function commonState(commit: string, key: string, past: Past, repository: Repository) {
  const common = await repository.mergeBase(commit)
  return common && stateAt(common, key, past)
}

async function commitsOf(key: string, repository: Repository): Promise<string[]> {
  const ever = await repository.pathsEver()
  const paths = pathsOfItem(key).filter((path) => ever.has(path))
  return (await Promise.all(paths.map(repository.commitsOf))).flat()
}

async function wasEver(key: string, commits: readonly string[], past: Past): Promise<boolean> {
  for (const commit of commits) if ((await stateAt(commit, key, past)) !== undefined) return true
  return false
}

/** The state of an item in a commit. */
async function stateAt(commit: string, key: string, past: Past): Promise<Item['state'] | undefined> {
  return (await itemAt(commit, key, past))?.state
}

async function itemAt(commit: string, key: string, { repository, context }: Past): Promise<Item | undefined> {
  for (const path of pathsOfItem(key)) {
    const files = await repository!.filesAt(commit, path)
    const item = projectItems(files, context).items.get(key)
    if (item) return item
  }
  return undefined
}

/**
 * What this checkout has last seen of an item, unless another branch was checked out then, whose files are not those of now.
 * What pull has taken does not count where no commit has it and the files do not have its changes: it was discarded.
 */
async function usableSeen(
  key: string,
  past: Past,
  local: Item['state'] | undefined,
): Promise<Pick<Seen, 'digest' | 'state'> | undefined> {
  const { repository, seen } = past
  const found = await seen.read(key)
  if (found === undefined || repository === undefined) return found
  if (found.branch !== repository.branch) return undefined
  if (found.head !== undefined && !(await repository.isInHistory(found.head))) return undefined
  const { from } = found
  if (from === undefined || hasChanges(from.state, local, found.state)) return found
  for (const commit of await commitsOf(key, repository)) {
    const then = await stateAt(commit, key, past)
    if (then && digestOf(then) === found.digest) return found
  }
  return from.state == null ? undefined : { digest: digestOf(from.state), state: from.state }
}

/** The team's settings that the files name. */
function onlyNamed(remote: ServerItem, local: Item | undefined): ServerItem {
  if (remote.item.kind !== 'team' || local?.kind !== 'team') return remote
  return { ...remote, item: { ...remote.item, state: membersOf(remote.item.state, local.state) } }
}

type State = Item['state'] | undefined

/** Whether `local` has all that was changed from `base` to `remote`. No base is null; one that is not known is undefined. */
function hasChanges(base: State | null, local: State, remote: State): boolean {
  if (base === null) return local !== undefined
  const [b, l, r] = [partsOf(base), partsOf(local), partsOf(remote)]
  const values = mergeValues(b.values, l.values, r.values)
  return (
    values.changes.length === 0 &&
    values.conflicts.length === 0 &&
    textNames.every((name) => {
      const { text, isConflict } = mergeText(b.texts[name], l.texts[name], r.texts[name])
      return !isConflict && text === l.texts[name]
    })
  )
}

const textNames = ['sourceCode', 'readme'] as const

/** Texts are compared by lines, all else by key. */
function partsOf(state: State) {
  const { sourceCode, readme, ...values }: Record<string, unknown> = isRecord(state) ? state : {}
  const textOf = (value: unknown) => (typeof value === 'string' ? value : null)
  return { texts: { sourceCode: textOf(sourceCode), readme: textOf(readme) }, values: state && values }
}
