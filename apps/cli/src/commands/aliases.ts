import type { ListedVersionedProcess, VersionedProcessAlias } from '@automation/client'
import type { Command } from 'commander'
import { examples } from '../output/examples.ts'
import { ownerPath } from '../project/process-names.ts'
import { all } from '../project/read-team.ts'
import { ExitError, exitCodes, usageError, type Runtime } from '../runtime.ts'

const subject = 'slug of a process, or module:NAME'

/** `pas aliases`. */
export function register(program: Command, runtime: Runtime): void {
  const { out } = runtime
  const aliases = program.command('aliases').description('List, set and delete the aliases of a process.')
  examples(aliases, 'pas aliases list greeting', 'pas aliases set greeting live v2')
  const add = (usage: string, text: string) => aliases.command(usage).argument('<process>', subject).description(text)
  examples(add('list', 'List aliases with the versions that they lead to.').action(list), 'pas aliases list greeting')
  examples(
    add('set', 'Have an alias lead to a version; it is made where there is none.')
      .argument('<alias>')
      .argument('<tag>')
      .action(set),
    'pas aliases set greeting live v2',
  )
  examples(
    add('delete', 'Delete an alias that nothing uses.').argument('<alias>').action(remove),
    'pas aliases delete greeting live --yes',
  )

  async function list(name: string): Promise<void> {
    const { client, path, found } = await read(name)
    const versions = await all<ListedVersionedProcess>(client, `${path}/versions`)
    const tags = new Map(versions.map(({ id, tag }) => [id, tag]))
    out.data(
      found.map((alias) => ({ ...alias, tag: tags.get(alias.versionId) })),
      {
        table: [
          { title: 'alias', of: (alias) => alias.name },
          { title: 'version', of: ({ tag, versionId }) => tag ?? versionId },
          { title: 'moved by', of: ({ updatedBy, createdBy }) => updatedBy ?? createdBy },
          { title: 'at', of: ({ updatedAt, createdAt }) => updatedAt ?? createdAt },
        ],
        empty: 'There are no aliases.',
      },
    )
  }

  async function set(name: string, alias: string, tag: string): Promise<void> {
    const { client, path, found } = await read(name)
    const own = found.find((each) => each.name === alias)
    const body = { name: alias, versionId: tag }
    const { data } = own
      ? await client.request<VersionedProcessAlias>('PATCH', `${path}/aliases/${own.id}`, { body })
      : await client.request<VersionedProcessAlias>('POST', `${path}/aliases`, { body })
    out.data(data, { text: `${alias} leads to ${tag}` })
  }

  async function remove(name: string, alias: string): Promise<void> {
    const { client, path, found } = await read(name)
    const own = found.find((each) => each.name === alias)
    if (own === undefined) throw usageError(`${name} has no alias ${alias}.`)
    if (!(await runtime.confirm(`Delete the alias ${alias} of ${name}?`)))
      throw new ExitError(exitCodes.refused, 'Nothing was deleted.')
    await client.request('DELETE', `${path}/aliases/${own.id}`)
    out.say(`Deleted ${alias}`)
  }

  async function read(name: string) {
    const client = await runtime.client()
    const path = await ownerPath(client, name)
    return { client, path, found: await all<VersionedProcessAlias>(client, `${path}/aliases`) }
  }
}
