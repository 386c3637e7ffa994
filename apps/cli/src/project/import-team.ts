import { openAsBlob } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client, StorageObject } from '@automation/client'
import { findProject } from '../context/project-file.ts'
import { ExitError, exitCodes, usageError } from '../exit.ts'
import type { Runtime } from '../runtime.ts'
import { digestOf } from './canonical-json.ts'
import { readText } from './checkout.ts'
import { makePlan, openProject, type OpenProject } from './open-project.ts'
import { isToDo, type Plan, type PlanItem } from './plan.ts'
import { aliasLine, moveAlias, publish, readVersion } from './published.ts'
import { versionOwnerAt } from './version-owner.ts'
import { pushPlan } from './push-plan.ts'
import { idIn, readItem } from './read-item.ts'
import { all, readTeam } from './read-team.ts'
import { hasContent, type Owner } from './release-rules.ts'
import type { ServerItem } from './server-items.ts'
import type { Item, Items } from './states.ts'
import { importAccounts, openTokens } from './team-accounts.ts'
import {
  readLines,
  teamData,
  type ExportedAlias,
  type ExportedObject,
  type ExportedOrigin,
  type ExportedVersion,
} from './team-data.ts'
import { importParents, importSettings } from './team-settings.ts'

/** A tag of processes whose versions are being imported; the files replace them whatever they are then. */
const underWay = 'import-under-way'

/** What came of an import. */
export interface Imported {
  /** How much was written; 0 where the team had it all. */
  changes: number
  /** Keys of what has a secret that the environment does not give: such variables are left out, such webhooks are off. */
  withoutSecret: string[]
  /** Service accounts that are not there, so that nobody has an API token of them. */
  withoutAccount: string[]
  /** Settings that were not written, each with what to do. */
  left: string[]
}

interface ImportOptions {
  /** Where new API tokens of service accounts go; without it none are made. */
  tokensPath?: string
}

/** Throws an ExitError where `importTeam` would refuse an exported team at once; writes nothing. */
export async function checkImport(runtime: Runtime, folder: string): Promise<void> {
  await refuseOthers((await openExport(runtime, folder)).project)
}

/**
 * Brings an exported team into the team of the command line. What is there already stays; cut off, it is done again. Throws
 * an ExitError with the code for a conflict where the team has something else under the same name.
 */
export async function importTeam(
  runtime: Runtime,
  folder: string,
  { tokensPath }: ImportOptions = {},
): Promise<Imported> {
  const { project, withoutSecret } = await openExport(runtime, folder)
  const { client, local } = project
  await refuseOthers(project)
  if (tokensPath !== undefined) await (await openTokens(tokensPath)).close()
  // Versions and runs import modules of parents.
  const parents = await importParents(client, folder)
  // What others name comes before them: versions import modules, processes, schedules and the team name versions.
  let changes = await push(runtime, project, ({ kind }) => ['module', 'packages', 'variable'].includes(kind))
  changes += await importPublished(client, folder, local)
  changes += await push(runtime, project, () => true)
  changes += await importOrigins(client, folder, { local, withoutSecret })
  changes += await importObjects(client, folder)
  const accounts = await importAccounts(client, folder, tokensPath)
  // The last, as they say from where the team may be called.
  const settings = await importSettings(client, folder)
  return {
    changes: changes + parents.changes + accounts.made + settings.changes,
    withoutSecret,
    withoutAccount: accounts.missing,
    left: [...parents.left, ...settings.left],
  }
}

/** An exported team as it can be written with the secrets that there are. */
async function openExport(
  runtime: Runtime,
  folder: string,
): Promise<{ project: OpenProject; withoutSecret: string[] }> {
  const found = await findProject(folder)
  if (found?.folder !== folder || (await readText(join(folder, teamData.settings))) === undefined)
    throw usageError(`${folder} is no exported team: it has no pas.yaml or no ${teamData.settings}.`)
  const inFolder = { ...runtime, cwd: folder, project: () => Promise.resolve(found) }
  const opened = await openProject(inFolder, { readsServer: false })
  const { local, withoutSecret } = withoutMissingSecrets(opened.local, runtime.env)
  // What an export has comes from where it says, not from a repository that the folder happens to be in.
  const { repository: _, ...project } = opened
  const { repository: __, ...past } = opened.past
  return { project: { ...project, past, local }, withoutSecret }
}

/** Items as they can be written with the secrets that there are. */
function withoutMissingSecrets(items: Items, env: Runtime['env']): { local: Items; withoutSecret: string[] } {
  const withoutSecret: string[] = []
  const known = [...items.values()].flatMap((item): Item[] => {
    if (item.kind === 'variable' && item.secret !== undefined && !env[item.secret]) {
      withoutSecret.push(item.key)
      return []
    }
    if (item.kind !== 'process' || item.secrets.webhookPassword === undefined) return [item]
    if (env[item.secrets.webhookPassword]) return [item]
    withoutSecret.push(item.key)
    const { settings } = item.state
    // Without its password anybody could call it.
    const webhook = { ...settings.webhook, enabled: false, username: null }
    const { webhookPassword: _, ...secrets } = item.secrets
    return [{ ...item, secrets, state: { ...item.state, settings: { ...settings, webhook } } }]
  })
  return { local: new Map(known.map((item) => [item.key, item])), withoutSecret }
}

/** Throws where the team has a process of the same slug that somebody else has made, and no import that was cut off. */
async function refuseOthers(project: OpenProject): Promise<void> {
  const server = await readTeam(project.client, project.local)
  const plan = await makePlan({ ...project, server })
  const isOther = ({ action, kind, key }: PlanItem) =>
    kind === 'process' && ['clash', 'theirs'].includes(action) && !isUnderWay(server.get(key)?.item)
  const others = plan.items.filter(isOther).map(({ key }) => key)
  if (others.length > 0)
    throw new ExitError(
      exitCodes.conflict,
      `The team has something else as ${others.join(', ')}, so nothing was written. Delete it there, or rename it here.`,
    )
}

const isUnderWay = (item: Item | undefined) => item?.kind === 'process' && item.state.settings.tags.includes(underWay)

/** Writes items; gives how many. */
async function push(runtime: Runtime, project: OpenProject, isWanted: (line: PlanItem) => boolean): Promise<number> {
  const server = await readTeam(project.client, project.local)
  // A new team has settings and lists of packages from its beginning, which nobody has made.
  const overwrite = (await makePlan({ ...project, server })).items
    .filter(
      ({ action, kind, key }) =>
        isUnderWay(server.get(key)?.item) || (action === 'clash' && ['team', 'packages'].includes(kind)),
    )
    .map(({ key }) => key)
  const plan: Plan = await makePlan(project, { overwrite })
  const items = plan.items.filter(isWanted)
  await pushPlan(runtime, project, { ...plan, items })
  return items.filter(isToDo).length
}

/** Publishes what is missing and moves aliases; gives how much. Processes that it has touched have the tag `underWay`. */
async function importPublished(client: Client, folder: string, local: Items): Promise<number> {
  let changes = 0
  const ofFile = (await Array.fromAsync(readLines<ExportedVersion>(join(folder, teamData.versions)))).toSorted(
    (a, b) => Number(a.of.startsWith('process/')) - Number(b.of.startsWith('process/')),
  )
  const server = await readTeam(client, local)
  for (const [key, versions] of Map.groupBy(ofFile, ({ of }) => of)) {
    let path = server.get(key)?.path
    const known = path === undefined ? undefined : versionOwnerAt(client, path)
    const listed = known === undefined ? [] : await all(known.versions.list(known.id))
    for (const version of versions) {
      const { tag, comment = '' } = version
      const isListed = listed.some((each) => each.tag === tag)
      const present = isListed ? await readVersion(known!, tag) : undefined
      if (present !== undefined && !hasContent(present, version))
        throw new ExitError(exitCodes.conflict, `${key} has a version ${tag} with another source`)
      if (present !== undefined) continue
      path = await readied(client, path, local.get(key), version)
      await publish({ key, versionOwner: versionOwnerAt(client, path), content: version, versions: [] }, tag, comment)
      changes += 1
    }
  }
  return changes + (await importAliases(client, folder, await readTeam(client, local)))
}

/**
 * A process as a version of it is published: what that has not, it takes from the process. Gives where the process or the
 * module is.
 */
async function readied(
  client: Client,
  path: string | undefined,
  item: Item | undefined,
  { of, sourceCode, readme, parametersSchema, packages }: ExportedVersion,
): Promise<string> {
  if (item?.kind !== 'process' && path !== undefined) return path
  if (item?.kind !== 'process') throw new Error(`${of} has versions, and is not there`)
  const body = { readme, parametersSchema, manifest: { dependencies: packages ?? {} }, tags: [underWay] }
  if (path !== undefined) {
    const read = await readItem(client, path, item)
    await client.processes.update(idIn(path), body, { ifMatch: read?.etag })
    return path
  }
  const { language } = item.state
  const made = { ...body, name: item.name, slug: item.name, programmingLanguage: language, sourceCode }
  return `/processes/${(await client.processes.create(made)).id}`
}

async function importAliases(client: Client, folder: string, server: ReadonlyMap<string, ServerItem>): Promise<number> {
  let changes = 0
  for await (const { of, name, tag, previousTags = [] } of readLines<ExportedAlias>(join(folder, teamData.aliases))) {
    const path = server.get(of)?.path
    if (path === undefined) throw new Error(`${of} has aliases, and is not there`)
    const versionOwner = versionOwnerAt(client, path)
    const [aliases, version] = await Promise.all([
      all(versionOwner.aliases.list(versionOwner.id)),
      readVersion(versionOwner, tag),
    ])
    const alias = aliases.find((each) => each.name === name)
    if (alias !== undefined && alias.versionId === version?.id) continue
    const owner: Owner = { key: of, versionOwner, content: { sourceCode: '' }, versions: [], ...(alias && { alias }) }
    // A new one takes the way of the old one, which a rollback goes back.
    const way = alias === undefined ? [...previousTags.toReversed(), tag] : [tag]
    for (const each of way) owner.alias = await moveAlias(owner, name, await aliasLine(owner, name, each))
    changes += 1
  }
  return changes
}

/**
 * Says of what is written as a repository has pushed it that it comes from there, where nobody has said so. Gives of how
 * much.
 */
async function importOrigins(
  client: Client,
  folder: string,
  { local, withoutSecret }: { local: Items; withoutSecret: readonly string[] },
): Promise<number> {
  let changes = 0
  const server = await readTeam(client, local)
  for await (const { of, origin } of readLines<ExportedOrigin>(join(folder, teamData.origins), { mayBeAbsent: true })) {
    const item = server.get(of)
    if (item === undefined || item.origin?.repository !== undefined || withoutSecret.includes(of)) continue
    const read = await readItem(client, item.path, item.item)
    // What somebody has changed since comes from them.
    if (digestOf(read?.item.state) !== digestOf(local.get(of)?.state)) continue
    const edit = { ifMatch: read?.etag }
    if (item.item.kind === 'process') await client.processes.update(item.id, { origin }, edit)
    else await client.modules.update(item.id, { origin }, edit)
    changes += 1
  }
  return changes
}

async function importObjects(client: Client, folder: string): Promise<number> {
  let changes = 0
  const entries = (await client.storage.list()) as StorageObject[]
  const present = new Map(entries.map((entry) => [entry.name, entry]))
  for await (const each of readLines<ExportedObject>(join(folder, teamData.objects))) {
    const { name, size, md5Hash, contentType, file } = each
    const there = present.get(name)
    if (there?.size === size && there.md5Hash === md5Hash && there.contentType === contentType) continue
    if (there !== undefined)
      throw new ExitError(exitCodes.conflict, `The team has a stored file ${name} with another content`)
    await client.storage.upload(name, await openAsBlob(await contentPath(folder, file)), { contentType })
    changes += 1
  }
  return changes
}

/** Where the content of a stored file is. The folder may come from others: it leads to no file outside of it. */
async function contentPath(folder: string, file: string): Promise<string> {
  const path = join(folder, teamData.contents, file)
  if (/^\d+$/.test(file) && (await lstat(path)).isFile()) return path
  throw new ExitError(exitCodes.conflict, `${teamData.objects} names ${file}, which is no file of an export`)
}
