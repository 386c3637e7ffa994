import {
  ApiError,
  type Client,
  type ListedVersionedProcess,
  type VersionedProcess,
  type VersionedProcessAlias,
} from '@automation/client'
import { ExitError, exitCodes } from '../exit.ts'
import { isRecord } from './canonical-json.ts'
import { inParallel } from './in-parallel.ts'
import type { PlanItem } from './plan.ts'
import { all } from './read-team.ts'
import { hasContent, type Content, type Owner } from './release-rules.ts'
import type { ServerItem } from './server-items.ts'

/** Reads what processes and modules have published, and their alias of a name. */
export function readOwners(client: Client, items: readonly ServerItem[], alias: string | undefined): Promise<Owner[]> {
  return inParallel(8, items, async ({ item, path }) => {
    const [versions, aliases] = await Promise.all([
      all<ListedVersionedProcess>(client, `${path}/versions`),
      alias === undefined ? [] : all<VersionedProcessAlias>(client, `${path}/aliases`),
    ])
    const found = aliases.find(({ name }) => name === alias)
    return { key: item.key, path, content: contentOf(item.state), versions, ...(found && { alias: found }) }
  })
}

/** The version of a tag or an id, whole; undefined where there is none. */
export async function readVersion(client: Client, path: string, tag: string): Promise<VersionedProcess | undefined> {
  const read = await client
    .request<VersionedProcess>('GET', `${path}/versions/${encodeURIComponent(tag)}`)
    .catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return undefined
      throw error
    })
  return read?.data
}

/** Publishes a version and reads it back. */
export async function publish(
  client: Client,
  { key, path, content }: Owner,
  tag: string,
  comment: string,
): Promise<void> {
  const { readme, parametersSchema } = content
  const body = {
    tag,
    comment,
    sourceCode: content.sourceCode,
    ...(readme !== undefined && { readme, parametersSchema }),
  }
  await client.request('POST', `${path}/versions`, { body }).catch(async (error: unknown) => {
    // What a release that was cut has published is done; another version of that tag is not.
    const found = error instanceof ApiError && error.status === 409 ? await readVersion(client, path, tag) : undefined
    if (found === undefined || !hasContent(found, content)) throw error
  })
  const found = await readVersion(client, path, tag)
  if (found === undefined || !hasContent(found, content))
    throw new ExitError(exitCodes.conflict, `${key}: the server has another version ${tag} than was published`)
}

/** Has an alias lead to a version, where it still leads to where the plan says, and reads it back. */
export async function moveAlias(
  client: Client,
  owner: Owner,
  name: string,
  { path, etag, tag }: PlanItem,
): Promise<void> {
  const body = { name, versionId: tag }
  const { data } =
    path === undefined
      ? await client.request<VersionedProcessAlias>('POST', `${owner.path}/aliases`, { body })
      : await client.request<VersionedProcessAlias>('PATCH', path, {
          body,
          ...(etag !== undefined && { ifMatch: etag }),
        })
  const [alias, version] = await Promise.all([
    client.request<VersionedProcessAlias>('GET', `${owner.path}/aliases/${data.id}`),
    readVersion(client, owner.path, tag!),
  ])
  if (version === undefined || alias.data.versionId !== version.id)
    throw new Error(`${owner.key}: the alias ${name} was moved, and leads elsewhere`)
}

/** The line of a plan for an alias, with the state that it is in now. */
export async function aliasLine(client: Client, owner: Owner, name: string, tag: string): Promise<PlanItem> {
  const line = { kind: 'alias', key: `alias/${owner.key}/${name}`, tag } as const
  if (owner.alias === undefined) return { action: 'create', ...line }
  const path = `${owner.path}/aliases/${owner.alias.id}`
  const etag = (await client.request('GET', path)).response.headers.get('ETag')
  return { action: 'move', ...line, path, ...(etag !== null && { etag }) }
}

function contentOf(state: unknown): Content {
  if (!isRecord(state)) throw new TypeError('only what has a source is published')
  const { sourceCode, parametersSchema, readme } = state as unknown as Content
  return { sourceCode, ...(readme !== undefined && { readme, parametersSchema }) }
}
