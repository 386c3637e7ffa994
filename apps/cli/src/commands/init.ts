import type { Command } from 'commander'
import { join } from 'node:path'
import { chooseTarget } from '../context/choose-target.ts'
import { readContexts } from '../context/contexts.ts'
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
    .option('--name <context>', 'how the context is called in pas.yaml, as --context says it too; else prod')
    .action(init)
  examples(command, 'pas init', 'pas init --context staging --url https://automation.example.com --team demo')

  async function init(options: { name?: string }): Promise<void> {
    const found = await runtime.project()
    if (found !== undefined) throw usageError(`There is a project already: ${join(found.folder, 'pas.yaml')}`)
    const { cwd, env, flags } = runtime
    const stored = await readContexts(env)
    const isStored = flags.context !== undefined && Object.hasOwn(stored.contexts, flags.context)
    const { url, team } = chooseTarget({ flags: isStored ? flags : { ...flags, context: undefined }, env, stored })
    const name = options.name ?? flags.context ?? 'prod'
    await writeNewProject(cwd, { contexts: { [name]: { url, team } } })
    runtime.out.data(
      { folder: cwd, context: name, url, team },
      { text: `Made pas.yaml for ${team} at ${url}, as the context ${name}. "pas pull" fetches what the team has.` },
    )
  }
}
