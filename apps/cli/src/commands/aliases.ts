import type { Command } from 'commander'
import { readTag } from '../options/tag.ts'
import { examples } from '../output/examples.ts'
import { versionOwnerOf } from '../project/version-owner.ts'
import { all } from '../project/read-team.ts'
import { requireYes, usageError, type Runtime } from '../runtime.ts'

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
      .argument('<alias>', 'its name', readTag)
      .argument('<tag>', 'of the version, or its id')
      .action(set),
    'pas aliases set greeting live v2',
  )
  examples(
    add('delete', 'Delete an alias that nothing uses.').argument('<alias>').action(remove),
    'pas aliases delete greeting live --yes',
  )

  async function list(name: string): Promise<void> {
    const { versionOwner, found } = await read(name)
    const versions = await all(versionOwner.versions.list(versionOwner.id))
    const tags = new Map(versions.map((version) => [version.id, version.tag]))
    out.data(
      found.map((alias) => ({ ...alias, tag: tags.get(alias.versionId) })),
      {
        table: [
          { title: 'alias', of: (alias) => alias.name },
          { title: 'version', of: (alias) => alias.tag ?? alias.versionId },
          { title: 'moved by', of: ({ updatedBy, createdBy }) => updatedBy ?? createdBy },
          { title: 'at', of: ({ updatedAt, createdAt }) => updatedAt ?? createdAt },
        ],
        empty: 'There are no aliases.',
      },
    )
  }

  async function set(name: string, alias: string, version: string): Promise<void> {
    const { versionOwner, found } = await read(name)
    const own = found.find((each) => each.name === alias)
    const input = { name: alias, versionId: version }
    const moved = await (own
      ? versionOwner.aliases.update(versionOwner.id, own.id, input)
      : versionOwner.aliases.create(versionOwner.id, input))
    out.data(moved, { text: `${alias} leads to ${version}` })
  }

  async function remove(name: string, alias: string): Promise<void> {
    const { versionOwner, found } = await read(name)
    const own = found.find((each) => each.name === alias)
    if (own === undefined) throw usageError(`${name} has no alias ${alias}: "pas aliases list ${name}" shows them.`)
    await requireYes(runtime, `Delete the alias ${alias} of ${name}?`, 'Nothing was deleted.')
    await versionOwner.aliases.delete(versionOwner.id, own.id)
    out.done({ process: name, alias, deleted: true }, `Deleted ${alias}`)
  }

  async function read(name: string) {
    const versionOwner = await versionOwnerOf(await runtime.client(), name)
    return { versionOwner, found: await all(versionOwner.aliases.list(versionOwner.id)) }
  }
}
