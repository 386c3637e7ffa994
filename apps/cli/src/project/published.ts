import { ApiError, type Client } from '@automation/client'
import { ExitError, exitCodes } from '../exit.ts'
import { isRecord } from './canonical-json.ts'
import { inParallel } from './in-parallel.ts'
import type { PlanItem } from './plan.ts'
import { versionOwnerAt, type PublishedVersion, type VersionOwner } from './version-owner.ts'
import { all } from './read-team.ts'
import { hasContent, type Content, type Owner } from './release-rules.ts'
import type { ServerItem } from './server-items.ts'

/** Reads what processes and modules have published, and their alias of a name. */
export function readOwners(client: Client, items: readonly ServerItem[], alias: string | undefined): Promise<Owner[]> {
  return inParallel(8, items, async ({ item, path }) => {
    const versionOwner = versionOwnerAt(client, path)
    const { id } = versionOwner
    const [versions, aliases] = await Promise.all([
      all(versionOwner.versions.list(id)),
      alias === undefined ? [] : all(versionOwner.aliases.list(id)),
    ])
    const found = aliases.find(({ name }) => name === alias)
    return { key: item.key, versionOwner, content: contentOf(item.state), versions, ...(found && { alias: found }) }
  })
}

/** The version of a tag or an id, whole; undefined where there is none. */
export function readVersion({ id, versions }: VersionOwner, tag: string): Promise<PublishedVersion | undefined> {
  return versions.get(id, tag).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  })
}

/** Publishes a version and reads it back. */
export async function publish({ key, versionOwner, content }: Owner, tag: string, comment: string): Promise<void> {
  const { readme, parametersSchema } = content
  const body = {
    tag,
    comment,
    sourceCode: content.sourceCode,
    ...(readme !== undefined && { readme, parametersSchema }),
  }
  await versionOwner.versions.publish(versionOwner.id, body).catch(async (error: unknown) => {
    // What a release that was cut has published is done; another version of that tag is not.
    const isTaken = error instanceof ApiError && error.code === 'tag_taken'
    const found = isTaken ? await readVersion(versionOwner, tag) : undefined
    if (found === undefined || !hasContent(found, content)) throw error
  })
  const found = await readVersion(versionOwner, tag)
  if (found === undefined || !hasContent(found, content))
    throw new ExitError(exitCodes.conflict, `${key}: the server has another version ${tag} than was published`)
}

/** Has an alias lead to a version, where it still leads to where the plan says, and reads it back. */
export async function moveAlias(
  owner: Owner,
  name: string,
  { etag, tag }: PlanItem,
): Promise<NonNullable<Owner['alias']>> {
  const { versionOwner } = owner
  const { id, aliases } = versionOwner
  const input = { name, versionId: tag }
  const moved = await (owner.alias === undefined
    ? aliases.create(id, input)
    : aliases.update(id, owner.alias.id, input, { ifMatch: etag }))
  const [alias, version] = await Promise.all([aliases.get(id, moved.id), readVersion(versionOwner, tag!)])
  if (version === undefined || alias.versionId !== version.id)
    throw new Error(`${owner.key}: the alias ${name} was moved, and leads elsewhere`)
  return alias
}

/** The line of a plan for an alias, with the state that it is in now. */
export async function aliasLine({ key, versionOwner, alias }: Owner, name: string, tag: string): Promise<PlanItem> {
  const line = { kind: 'alias', key: `alias/${key}/${name}`, tag } as const
  if (alias === undefined) return { action: 'create', ...line }
  const { response } = await versionOwner.aliases.get(versionOwner.id, alias.id).withResponse()
  const etag = response.headers.get('ETag')
  return { action: 'move', ...line, ...(etag !== null && { etag }) }
}

function contentOf(state: unknown): Content {
  if (!isRecord(state)) throw new TypeError('only what has a source is published')
  const { sourceCode, parametersSchema, readme } = state as unknown as Content
  return { sourceCode, ...(readme !== undefined && { readme, parametersSchema }) }
}
