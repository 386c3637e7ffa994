import type { ListedVersionedProcess, VersionedProcess } from '@automation/client'
import type { Command } from 'commander'
import { examples } from '../output/examples.ts'
import { ownerPath } from '../project/process-names.ts'
import { all } from '../project/read-team.ts'
import { ExitError, exitCodes, type Runtime } from '../runtime.ts'

const subject = 'slug of a process, or module:NAME'

/** `pas versions`. */
export function register(program: Command, runtime: Runtime): void {
  const { out } = runtime
  const versions = program.command('versions').description('List, show, publish and delete the versions of a process.')
  examples(versions, 'pas versions list greeting', 'pas versions show greeting v1', 'pas versions list module:texts')
  const add = (usage: string, text: string) => versions.command(usage).argument('<process>', subject).description(text)
  examples(add('list', 'List versions, newest first.').action(list), 'pas versions list greeting --json')
  examples(
    add('show', 'Print the source of a version.').argument('<tag>').action(show),
    'pas versions show greeting v1 > main.js',
  )
  examples(
    add('publish', 'Publish what the server has now under a tag.')
      .argument('<tag>')
      .option('--comment <text>', 'is kept with it')
      .action(publish),
    'pas versions publish greeting v2',
  )
  examples(
    add('delete', 'Delete a version that nothing uses.').argument('<tag>').action(remove),
    'pas versions delete greeting v1 --yes',
  )

  async function list(name: string): Promise<void> {
    const client = await runtime.client()
    out.data(await all<ListedVersionedProcess>(client, `${await ownerPath(client, name)}/versions`), {
      table: [
        { title: 'tag', of: ({ tag }) => tag },
        { title: 'published', of: ({ createdAt }) => createdAt },
        { title: 'by', of: ({ createdBy }) => createdBy },
        { title: 'comment', of: ({ comment }) => comment },
      ],
      empty: 'Nothing is published yet.',
    })
  }

  async function show(name: string, tag: string): Promise<void> {
    const { client, path } = await versionPath(name, tag)
    const { data } = await client.request<VersionedProcess>('GET', path)
    out.data(data, { text: data.sourceCode })
  }

  async function publish(name: string, tag: string, { comment }: { comment?: string }): Promise<void> {
    const client = await runtime.client()
    const body = { tag, ...(comment !== undefined && { comment }) }
    const path = `${await ownerPath(client, name)}/versions`
    const { data } = await client.request<VersionedProcess>('POST', path, { body })
    out.data(data, { text: `Published ${data.tag}` })
  }

  async function remove(name: string, tag: string): Promise<void> {
    if (!(await runtime.confirm(`Delete version ${tag} of ${name}?`)))
      throw new ExitError(exitCodes.refused, 'Nothing was deleted.')
    const { client, path } = await versionPath(name, tag)
    await client.request('DELETE', path)
    out.say(`Deleted ${tag}`)
  }

  async function versionPath(name: string, tag: string) {
    const client = await runtime.client()
    return { client, path: `${await ownerPath(client, name)}/versions/${encodeURIComponent(tag)}` }
  }
}
