import type { Client } from '@automation/client'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { Target } from '../context/choose-target.ts'
import { ExitError, exitCodes, usageError, type Runtime } from '../runtime.ts'
import type { Fault } from './check-value.ts'
import { mergedPath, readCheckout, remoteSuffix } from './checkout.ts'
import { compareItems, type Comparison, type Past } from './compare.ts'
import { readYaml } from './edit-yaml.ts'
import { inParallel } from './in-parallel.ts'
import { readMerged } from './merged-states.ts'
import { isToDo, planItems, type Plan, type PlanItem } from './plan.ts'
import type { Files } from './process-folder.ts'
import { pathsOfItem, projectItems } from './project-items.ts'
import { readItem } from './read-item.ts'
import { readProject, type ServerItems } from './read-team.ts'
import { openRepository, type Repository } from './repository.ts'
import type { ServerItem } from './server-items.ts'
import { SeenStates } from './seen-states.ts'
import { keys, membersOf, type Items } from './states.ts'
import { digestOf, isRecord } from './canonical-json.ts'

/** A project with the server that a command is for. */
export interface OpenProject {
  folder: string
  target: Target
  client: Client
  files: Files
  /** Those of them that merges have left and that nobody has removed yet. */
  leftByMerges: readonly string[]
  local: Items
  past: Past
  repository?: Repository
  /** What the server had when the project was opened. */
  server?: ServerItems
}

/**
 * Opens the project of a command, and reads the server beside the files unless it is told not to. Throws with all faults of the
 * files, or with how to begin a project.
 */
export async function openProject(runtime: Runtime, { readsServer = true } = {}): Promise<OpenProject> {
  const project = await runtime.project()
  if (project === undefined) throw usageError('There is no pas.yaml here or above: "pas init" makes one.')
  const { folder } = project
  const [target, client] = await Promise.all([runtime.target(), runtime.client()])
  const reading = readCheckout(folder)
  const parsing = reading.then((files) => faultlessItems(files, target.context))
  const [files, local, repository, server] = await Promise.all([
    reading,
    parsing,
    openRepository(folder),
    readsServer ? readProject(client, parsing) : undefined,
  ])
  const { head, branch } = repository ?? {}
  const past: Past = {
    seen: new SeenStates(folder, target, { ...(head && { head }), ...(branch && { branch }) }),
    merged: readMerged(files.get(mergedPath())),
    previousStates: (item) => previousStates(client, item),
    ...(repository && { repository }),
    ...(target.context !== undefined && { context: target.context }),
  }
  const leftByMerges = [...files.keys()].filter((path) => path.endsWith(remoteSuffix))
  return {
    ...{ folder, target, client, files, leftByMerges, local, past },
    ...(repository && { repository }),
    ...(server && { server }),
  }
}

async function previousStates(client: Client, { item, id }: ServerItem): Promise<readonly string[]> {
  if (item.kind === 'process') return (await client.processes.get(id)).previousStates ?? []
  if (item.kind === 'module') return (await client.modules.get(id)).previousStates ?? []
  return []
}

function faultlessItems(files: Files, context: string | undefined): Items {
  const { items, faults } = projectItems(files, context)
  if (faults.length > 0) throw faulty(faults)
  return items
}

/** Compares with what the server has. */
export async function compareProject(
  project: OpenProject,
  isWanted?: (key: string) => boolean,
  isOverwritten?: (key: string) => boolean,
): Promise<{ server: ServerItems; comparisons: Comparison[] }> {
  const server = project.server ?? (await readProject(project.client, project.local))
  return { server, comparisons: await compareItems(project.local, server, project.past, isWanted, isOverwritten) }
}

interface PlanChoice {
  isWanted?: (key: string) => boolean
  prune?: boolean
  overwrite?: readonly string[]
  secrets?: boolean
}

/** Makes the plan of a push. */
export async function makePlan(project: OpenProject, choice: PlanChoice = {}): Promise<Plan> {
  const { target, repository, client, local } = project
  const isOverwritten = (key: string) => (choice.overwrite ?? []).some((name) => isNamed(key, name))
  const { comparisons } = await compareProject(project, choice.isWanted, isOverwritten)
  const lines = planItems(comparisons, {
    prune: choice.prune ?? false,
    isOverwritten,
    unresolved: (key) => unresolved(project, key),
    secrets: choice.secrets ?? false,
  })
  const items = await inParallel(8, lines, (line) => withTag(client, line, local))
  return {
    ...{ plan: 1, url: target.url, team: target.team },
    ...(target.context !== undefined && { context: target.context }),
    ...(repository && { repository: repository.name, ...(repository.head && { commit: repository.head }) }),
    items,
  }
}

/**
 * Which items a path names: those whose files are it or below it. Relative to the folder that the program was started in. Throws
 * where there is none.
 */
export function itemsBelow(project: OpenProject, cwd: string, path: string): (key: string) => boolean {
  const inside = relative(project.folder, isAbsolute(path) ? path : resolve(cwd, path))
    .split(sep)
    .join('/')
  if (inside.startsWith('..')) throw usageError(`${path} is outside of ${project.folder}`)
  if (inside === '') return () => true
  const isBelow = (key: string) =>
    pathsOfItem(key).some(
      (own) =>
        own === inside ||
        own === `${inside}/` ||
        own.startsWith(`${inside}/`) ||
        (own.endsWith('/') && inside.startsWith(own)),
    )
  if (![...project.local.keys(), ...(project.server?.keys() ?? [])].some(isBelow))
    throw usageError(`Neither the files nor the server have anything at ${path}.`)
  return isBelow
}

/** The file that a merge of an item has left and that nobody has removed yet; undefined where there is none. */
export function unresolved({ files, leftByMerges }: OpenProject, key: string): string | undefined {
  const ofVariables = `variables.yaml${remoteSuffix}`
  return leftByMerges.find((path) => {
    if (path === ofVariables) return key.startsWith('variable/') && hasMember(files.get(path)!, key.slice(9))
    const own = pathsOfItem(key).some(
      (each) => path === `${each}${remoteSuffix}` || (each.endsWith('/') && path.startsWith(each)),
    )
    return own && (!key.startsWith('schedule/') || path.endsWith(`process.yaml${remoteSuffix}`))
  })
}

function hasMember(yaml: string, name: string): boolean {
  const value = readYaml(yaml)
  return isRecord(value) && Object.hasOwn(value, name)
}

/** Whether a name of the command line is that of an item: a slug, a key, or the start of one. */
function isNamed(key: string, name: string): boolean {
  return key === name || key === keys.process(name) || key.startsWith(`schedule/${name}/`) || key === `module/${name}`
}

/** A line with the ETag of the state that it replaces. */
async function withTag(client: Client, line: PlanItem, local: Items): Promise<PlanItem> {
  if (!isToDo(line) || line.path === undefined || line.kind === 'version' || line.kind === 'alias') return line
  const read = await readItem(client, line.path, { kind: line.kind, key: line.key, name: line.key.split('/').at(-1)! })
  const own = local.get(line.key)
  const state = read && (line.kind === 'team' && own ? membersOf(read.item.state, own.state) : read.item.state)
  if (state === undefined || digestOf(state) !== line.before)
    throw new ExitError(exitCodes.conflict, `${line.key} was changed while it was read: plan again`)
  return read?.etag === undefined ? line : { ...line, etag: read.etag }
}

function faulty(faults: readonly Fault[]): ExitError {
  const lines = faults.map(({ path, message }) => `\n  ${path}: ${message}`)
  return new ExitError(exitCodes.refused, `The files have faults, so nothing was done:${lines.join('')}`, {
    reason: 'faulty_files',
    errors: [...faults],
  })
}
