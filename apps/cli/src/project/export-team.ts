import { mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type {
  Client,
  ListedVersionedModule,
  Schedule,
  StorageObject,
  Team,
  VersionedProcessAlias,
} from '@automation/client'
import { usageError } from '../exit.ts'
import { saveFile } from '../output/local-file.ts'
import { writeCheckout } from './checkout.ts'
import { mergeVariables } from './merge-single.ts'
import { writeNewProject } from './new-project.ts'
import { packageFiles, packagesText } from './package-files.ts'
import { newProcessFiles } from './process-folder.ts'
import { pathsOfItem } from './project-items.ts'
import { readVersion } from './published.ts'
import { versionOwnerAt, type VersionOwner } from './version-owner.ts'
import { all, readTeam } from './read-team.ts'
import type { ServerItem } from './server-items.ts'
import type { Item, ScheduleState } from './states.ts'
import { readAccounts } from './team-accounts.ts'
import {
  teamData,
  writeLines,
  type ExportedAccount,
  type ExportedAlias,
  type ExportedObject,
  type ExportedOrigin,
  type ExportedVersion,
} from './team-data.ts'
import { exportedSettings } from './team-settings.ts'

interface ExportOptions {
  /** Also the records of executions, newest first. */
  executions: boolean
  /** Whether the service account of the token belongs to the team; false where it was made for this alone. */
  ownAccount: boolean
  tell(words: string): void
}

interface Published {
  item: Item
  versionOwner: VersionOwner
  /** Oldest first. */
  versions: ListedVersionedModule[]
  aliases: VersionedProcessAlias[]
}

/**
 * Writes all that a team has, but its secrets, into a folder that is not there yet: what a repository has, and beside it
 * `team-data`. The folder is there when all of it is. Gives what is to be set again where it is imported.
 */
export async function exportTeam(client: Client, folder: string, options: ExportOptions): Promise<string[]> {
  await refuseFull(folder)
  const partial = `${folder}.partial`
  await rm(partial, { recursive: true, force: true })
  await mkdir(partial, { recursive: true, mode: 0o700 })
  const [team, server, accounts] = await Promise.all([
    client.team.get(),
    readTeam(client, new Map()),
    readAccounts(client, options.ownAccount),
  ])
  const published = await readPublished(client, [...server.values()])
  const items = [...server.values()].map(({ item }) => withTags(item, published))
  await writeProject(partial, items)
  options.tell(`Processes, modules, schedules, variables and packages: ${items.length}.`)
  await writePublished(partial, published)
  options.tell(`Versions: ${published.reduce((sum, { versions }) => sum + versions.length, 0)}.`)
  await writeCheckout(partial, teamData.settings, `${JSON.stringify(exportedSettings(team), null, 2)}\n`)
  await writeLines(join(partial, teamData.origins), originsOf([...server.values()]))
  await writeLines(join(partial, teamData.accounts), accounts)
  options.tell(`Service accounts, without their API tokens: ${accounts.length}.`)
  options.tell(`Stored files: ${await writeObjects(client, partial)}.`)
  if (options.executions) await writeLines(join(partial, teamData.executions), client.executions.list({ limit: 1000 }))
  const again = toSetAgain(items, team, { accounts, schedules: await all(client.schedules.list()) })
  await writeCheckout(partial, teamData.setAgain, `# To be set again\n\n${again.map((each) => `- ${each}\n`).join('')}`)
  await rmdir(folder).catch(unlessAbsent)
  await rename(partial, folder)
  return again
}

async function refuseFull(folder: string): Promise<void> {
  const names = (await readdir(folder).catch(unlessAbsent)) ?? []
  if (names.length > 0) throw usageError(`${folder} is not empty: name a folder that is not there yet.`)
}

function unlessAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

function originsOf(items: readonly ServerItem[]): ExportedOrigin[] {
  return items.flatMap(({ item, origin }) => (origin?.repository === undefined ? [] : [{ of: item.key, origin }]))
}

function readPublished(client: Client, items: ServerItem[]): Promise<Published[]> {
  const owners = items.filter(({ item }) => item.kind === 'process' || item.kind === 'module')
  return Promise.all(
    owners.map(async ({ item, path }) => {
      const versionOwner = versionOwnerAt(client, path)
      const [versions, aliases] = await Promise.all([
        all(versionOwner.versions.list(versionOwner.id)),
        all(versionOwner.aliases.list(versionOwner.id)),
      ])
      return { item, versionOwner, versions: versions.toReversed(), aliases }
    }),
  )
}

/** An item that names versions by their tags: elsewhere they have other ids. */
function withTags(item: Item, published: readonly Published[]): Item {
  const versions = published.flatMap((each) => each.versions)
  const tagOf = (tag: string | null) => versions.find(({ id }) => id === tag)?.tag ?? tag
  if (item.kind === 'schedule') return { ...item, state: { ...item.state, tag: tagOf(item.state.tag) } }
  if (item.kind === 'team' && item.state.errorHandler) {
    const { errorHandler } = item.state
    return { ...item, state: { ...item.state, errorHandler: { ...errorHandler, tag: tagOf(errorHandler.tag) } } }
  }
  if (item.kind !== 'process') return item
  const { settings } = item.state
  const form = { ...settings.form, tag: tagOf(settings.form.tag) }
  return { ...item, state: { ...item.state, settings: { ...settings, form } } }
}

async function writeProject(folder: string, items: readonly Item[]): Promise<void> {
  const team = items.find(({ kind }) => kind === 'team')
  await writeNewProject(folder, { team: team?.state })
  for (const [path, text] of items.flatMap((item) => filesOf(item, items))) await writeCheckout(folder, path, text)
  const variables = items.filter(({ kind }) => kind === 'variable')
  const compared = variables.map(
    (item) => ({ key: item.key, verdict: 'new', remote: { item, path: '', id: '' } }) as const,
  )
  for (const [path, text] of mergeVariables(compared, new Map(), {}).writes) await writeCheckout(folder, path, text)
}

/** The files of an item that has its own. */
function filesOf(item: Item, items: readonly Item[]): [path: string, text: string][] {
  if (item.kind === 'module') return [[pathsOfItem(item.key)[0]!, item.state.sourceCode]]
  if (item.kind === 'packages')
    return Object.keys(item.state).length === 0
      ? []
      : [[packageFiles[item.name], packagesText(item.name, item.state, undefined)]]
  if (item.kind !== 'process') return []
  const schedules: Record<string, ScheduleState> = {}
  for (const each of items)
    if (each.kind === 'schedule' && each.process === item.name) schedules[each.name] = each.state
  return [...newProcessFiles(item.name, item.state, schedules)]
}

async function writePublished(folder: string, published: readonly Published[]): Promise<void> {
  const versions = async function* (): AsyncGenerator<ExportedVersion> {
    for (const { item, versionOwner, versions: listed } of published)
      for (const { id } of listed) {
        const version = await readVersion(versionOwner, id)
        if (version === undefined) continue
        const { tag, comment, sourceCode, parametersSchema, readme, manifest } = version
        const packages = manifest?.dependencies
        const ofProcess = item.kind === 'process' ? { parametersSchema, readme, packages } : {}
        yield { of: item.key, tag, ...(comment !== undefined && { comment }), sourceCode, ...ofProcess }
      }
  }
  await writeLines(join(folder, teamData.versions), versions())
  const aliases = published.flatMap(({ item, versions: listed, aliases: named }) =>
    named.flatMap(({ name, versionId, previousVersionIds = [] }): ExportedAlias[] => {
      const [tag, ...previous] = [versionId, ...previousVersionIds].map(
        (id) => listed.find((each) => each.id === id)?.tag,
      )
      if (tag === undefined) return []
      return [{ of: item.key, name, tag, previousTags: previous.filter((each) => each !== undefined) }]
    }),
  )
  await writeLines(join(folder, teamData.aliases), aliases)
}

/** Gives how many there are. */
async function writeObjects(client: Client, folder: string): Promise<number> {
  const entries = await client.storage.list()
  const objects = entries.filter((entry): entry is StorageObject => 'md5Hash' in entry)
  const exported: ExportedObject[] = []
  for (const [index, { name, size, md5Hash, contentType }] of objects.entries()) {
    // Names of objects are no paths here: they may lead anywhere, or be a folder's and a file's at once.
    const file = String(index + 1).padStart(6, '0')
    await saveFile((await client.storage.download(name)).body, join(folder, teamData.contents, file))
    exported.push({ name, size, md5Hash, contentType, file })
  }
  await writeLines(join(folder, teamData.objects), exported)
  return exported.length
}

/** What an import can't do, in words. */
function toSetAgain(
  items: readonly Item[],
  team: Team,
  { accounts, schedules }: { accounts: readonly ExportedAccount[]; schedules: readonly Schedule[] },
): string[] {
  const processes = items.filter((item) => item.kind === 'process')
  const namesOf = (of: readonly { name: string }[]) => of.map(({ name }) => name)
  const lists: [words: string, names: string[]][] = [
    [
      'Sensitive variables, from environment variables of their names',
      namesOf(items.filter((item) => item.kind === 'variable' && item.state.isSensitive)),
    ],
    [
      'Passwords of webhooks, from the environment variables that process.yaml names; without one the webhook is off',
      namesOf(processes.filter(({ state }) => state.settings.webhook.username !== null)),
    ],
    [
      'Links of public forms, which get new tokens',
      namesOf(processes.filter(({ state }) => state.settings.form.public)),
    ],
    [
      'Callback URLs of schedules, which may have a secret in them',
      schedules
        .filter(({ settings }) => settings.callbackUrl !== undefined)
        .map(({ id, comment, cron, dateTime }) => comment || cron || dateTime || id),
    ],
    ['API tokens of service accounts, which get new ones by --api-tokens FILE', namesOf(accounts)],
    ['Parents of the team, once the operator there has granted them', team.parentTeamSlugs],
    ['Allowed addresses of the team, where the import is not run from one of them', team.allowedAddresses],
  ]
  return [
    ...lists.flatMap(([words, names]) => (names.length === 0 ? [] : [`${words}: ${names.join(', ')}`])),
    'Who signs in: people get new links to the console, or come by the issuer of the installation',
    'The addresses of webhooks and forms, which have the name of the team in them, wherever they are entered',
  ]
}
