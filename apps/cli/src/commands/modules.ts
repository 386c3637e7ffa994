import type { SourceUser } from '@automation/client'
import type { Command } from 'commander'
import { examples } from '../output/examples.ts'
import { moduleId } from '../project/version-owner.ts'
import { all } from '../project/read-team.ts'
import { requireYes, type Runtime } from '../runtime.ts'

/** `pas modules`. */
export function register(program: Command, runtime: Runtime): void {
  const { out } = runtime
  const modules = program
    .command('modules')
    .description('List, show and delete modules. Their versions: "pas versions list module:NAME".')
  examples(modules, 'pas modules list', 'pas modules show texts', 'pas modules users texts')
  examples(modules.command('list').description('List modules.').action(list), 'pas modules list --json')
  const add = (usage: string, text: string) =>
    modules.command(usage).argument('<module>', 'its name or id').description(text)
  examples(add('show', 'Print the source of a module.').action(show), 'pas modules show texts > modules/texts.js')
  examples(add('users', 'List what imports a module.').action(users), 'pas modules users texts')
  examples(add('delete', 'Delete a module that nothing imports.').action(remove), 'pas modules delete texts --yes')

  async function list(): Promise<void> {
    const client = await runtime.client()
    out.data(await all(client.modules.list()), {
      table: [
        { title: 'name', of: ({ name }) => name },
        { title: 'language', of: ({ programmingLanguage }) => programmingLanguage },
        { title: 'changed', of: ({ updatedAt, createdAt }) => updatedAt ?? createdAt },
        { title: 'by', of: ({ updatedBy, createdBy }) => updatedBy ?? createdBy },
        { title: 'id', of: ({ id }) => id },
      ],
      empty: 'There are no modules.',
    })
  }

  async function show(name: string): Promise<void> {
    const client = await runtime.client()
    const module = await client.modules.get(await moduleId(client, name))
    out.data(module, { text: module.sourceCode })
  }

  async function users(name: string): Promise<void> {
    const client = await runtime.client()
    const id = await moduleId(client, name)
    out.data(await all(client.modules.users(id)), { empty: 'Nothing imports it.', table: userColumns })
  }

  async function remove(name: string): Promise<void> {
    const client = await runtime.client()
    const id = await moduleId(client, name)
    await requireYes(runtime, `Delete the module ${name}?`, 'Nothing was deleted.')
    await client.modules.delete(id)
    out.done({ id, name, deleted: true }, `Deleted ${name}`)
  }
}

const userColumns = [
  { title: 'type', of: ({ type }: SourceUser) => type.toLowerCase() },
  { title: 'name', of: ({ slug, name }: SourceUser) => slug ?? name },
  { title: 'version', of: ({ tag }: SourceUser) => tag },
]
