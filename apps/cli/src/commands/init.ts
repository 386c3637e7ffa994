import type { Command } from 'commander'
import { join } from 'node:path'
import { examples } from '../output/examples.ts'
import { writeNewProject } from '../project/new-project.ts'
import { usageError, type Runtime } from '../runtime.ts'

/** `pas init`. */
export function register(program: Command, runtime: Runtime): void {
  const command = program
    .command('init')
    .description(
      'Make this folder a project of the team that is signed in: pas.yaml, and what git and editors want to know.',
    )
    .option('--name <context>', 'how the context is called in pas.yaml', 'prod')
    .action(init)
  examples(command, 'pas init', 'pas init --url https://automation.example.com --team demo')

  async function init({ name }: { name: string }): Promise<void> {
    const found = await runtime.project()
    if (found !== undefined) throw usageError(`There is a project already: ${join(found.folder, 'pas.yaml')}`)
    const { url, team } = await runtime.target()
    const { cwd } = runtime
    await writeNewProject(cwd, { contexts: { [name]: { url, team } } })
    runtime.out.data(
      { folder: cwd, context: name, url, team },
      { text: `Made pas.yaml for ${team} at ${url}, as the context ${name}. "pas pull" fetches what the team has.` },
    )
  }
}
