import type { Command } from 'commander'
import { examples } from '../output/examples.ts'
import { compareProject, itemsBelow, openProject, unresolved } from '../project/open-project.ts'
import type { Verdict } from '../project/verdict.ts'
import type { Runtime } from '../runtime.ts'

const words: Readonly<Record<Verdict, string>> = {
  same: 'the same',
  create: 'only here: push makes it',
  update: 'changed here: push writes it',
  delete: 'removed here: push --prune deletes what this repository made',
  theirs: 'changed on the server: pull takes it',
  new: 'only on the server: pull takes it',
  gone: 'removed on the server: pull removes it',
  clash: 'changed on both sides: pull merges',
}

/** `pas status`. */
export function register(program: Command, runtime: Runtime): void {
  const command = program
    .command('status')
    .argument('[path]', 'only what is at or below this path')
    .description('Show in what files and server differ.')
    .action(status)
  examples(command, 'pas status', 'pas status --json')

  async function status(path: string | undefined): Promise<void> {
    const project = await openProject(runtime)
    const isWanted = path === undefined ? undefined : itemsBelow(project, runtime.cwd, path)
    const { comparisons } = await compareProject(project, isWanted)
    const differing = comparisons
      .map(({ key, verdict, remote }) => ({
        key,
        verdict,
        unresolved: unresolved(project, key),
        updatedBy: remote?.updatedBy,
        updatedAt: remote?.updatedAt,
      }))
      .filter(({ verdict, unresolved: left }) => verdict !== 'same' || left !== undefined)
    runtime.out.data(differing, {
      table: [
        { title: 'item', of: ({ key }) => key },
        {
          title: 'state',
          of: ({ key, verdict, unresolved: left }) => {
            if (key === 'variable/contexts') return 'only on the server: variables.yaml has no variable of this name'
            return left === undefined ? words[verdict] : `merge ${left} and remove it`
          },
        },
        { title: 'last written by', of: ({ verdict, updatedBy }) => (verdict === 'create' ? undefined : updatedBy) },
        { title: 'at', of: ({ verdict, updatedAt }) => (verdict === 'create' ? undefined : updatedAt) },
      ],
      empty: `Files and server are the same (${project.target.team} at ${project.target.url}).`,
    })
  }
}
