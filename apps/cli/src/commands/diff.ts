import type { Command } from 'commander'
import { createTwoFilesPatch } from 'diff'
import { examples } from '../output/examples.ts'
import { oneLine } from '../output/plain-text.ts'
import { compareProject, itemsBelow, openProject } from '../project/open-project.ts'
import { stateTexts } from '../project/state-texts.ts'
import type { Runtime } from '../runtime.ts'

/** `pas diff`. */
export function register(program: Command, runtime: Runtime): void {
  const command = program
    .command('diff')
    .argument('[path]', 'only what is at or below this path')
    .description('Show what the files have that the server has not, line by line, from the server to the files.')
    .action(diff)
  examples(command, 'pas diff', 'pas diff processes/greeting')

  async function diff(path: string | undefined): Promise<void> {
    const project = await openProject(runtime)
    const isWanted = path === undefined ? undefined : itemsBelow(project, runtime.cwd, path)
    const { comparisons } = await compareProject(project, isWanted)
    const patches = comparisons
      .filter(({ verdict }) => verdict !== 'same')
      .flatMap(({ key, verdict, local, remote }) => {
        const [theirs, ours] = [stateTexts(remote?.item), stateTexts(local)]
        const names = [...new Set([...theirs.keys(), ...ours.keys()])].filter(
          (name) => theirs.get(name) !== ours.get(name),
        )
        return names.map((name) => ({
          key,
          verdict,
          name,
          patch: createTwoFilesPatch(`server/${name}`, `files/${name}`, theirs.get(name) ?? '', ours.get(name) ?? ''),
        }))
      })
    if (runtime.out.json) runtime.out.data(patches)
    else if (patches.length === 0) runtime.out.say('Files and server are the same.')
    else runtime.out.data(patches.map(({ patch }) => coloured(patch.replace(/^=+\n/, ''))).join(''))
  }

  function coloured(patch: string): string {
    const style = (line: string) =>
      line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : line.startsWith('@') ? 'cyan' : undefined
    return patch
      .split('\n')
      .map((line) => {
        const colour = style(line)
        const shown = line.split('\t').map(oneLine).join('\t')
        return colour ? runtime.out.style(colour, shown) : shown
      })
      .join('\n')
  }
}
