import type { Command } from 'commander'
import { readTag } from '../options/tag.ts'
import { examples } from '../output/examples.ts'
import { versionOwnerOf } from '../project/version-owner.ts'
import { all } from '../project/read-team.ts'
import { requireYes, type Runtime } from '../runtime.ts'

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
      .argument('<tag>', 'of the new version', readTag)
      .option('--comment <text>', 'is kept with it')
      .action(publish),
    'pas versions publish greeting v2',
  )
  examples(
    add('delete', 'Delete a version that nothing uses.').argument('<tag>').action(remove),
    'pas versions delete greeting v1 --yes',
  )

  const of = async (name: string) => versionOwnerOf(await runtime.client(), name)

  async function list(name: string): Promise<void> {
    const { id, versions: published } = await of(name)
    out.data(await all(published.list(id)), {
      table: [
        { title: 'tag', of: (version) => version.tag },
        { title: 'published', of: ({ createdAt }) => createdAt },
        { title: 'by', of: ({ createdBy }) => createdBy },
        { title: 'comment', of: ({ comment }) => comment },
      ],
      empty: 'Nothing is published yet.',
    })
  }

  async function show(name: string, wanted: string): Promise<void> {
    const { id, versions: published } = await of(name)
    const version = await published.get(id, wanted)
    out.data(version, { text: version.sourceCode })
  }

  async function publish(name: string, newTag: string, { comment }: { comment?: string }): Promise<void> {
    const { id, versions: published } = await of(name)
    const version = await published.publish(id, { tag: newTag, comment })
    out.data(version, { text: `Published ${version.tag}` })
  }

  async function remove(name: string, wanted: string): Promise<void> {
    await requireYes(runtime, `Delete version ${wanted} of ${name}?`, 'Nothing was deleted.')
    const { id, versions: published } = await of(name)
    await published.delete(id, wanted)
    out.done({ process: name, tag: wanted, deleted: true }, `Deleted ${wanted}`)
  }
}
