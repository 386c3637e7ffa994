import type { Command } from 'commander'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { examples } from '../output/examples.ts'
import { readText } from '../project/checkout.ts'
import { writeEditorSchemas } from '../project/editor-files.ts'
import { usageError, type Runtime } from '../runtime.ts'

const ignored = ['.pas/', 'plan.json', 'variables.env', '*.pas-new']
const attributes = ['# Sources are kept byte by byte.', 'processes/** -text', 'modules/** -text']

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
    await writeFile(join(cwd, 'pas.yaml'), projectText(name, url, team), { flag: 'wx' })
    await addLines(join(cwd, '.gitignore'), ignored)
    await addLines(join(cwd, '.gitattributes'), attributes)
    await writeEditorSchemas(cwd)
    runtime.out.data(
      { folder: cwd, context: name, url, team },
      { text: `Made pas.yaml for ${team} at ${url}. "pas pull" fetches what the team has.` },
    )
  }
}

function projectText(name: string, url: string, team: string): string {
  return `# yaml-language-server: $schema=schemas/pas.json\n${stringify({ layout: 1, contexts: { [name]: { url, team } } })}`
}

/** Adds lines to a file that does not have them. */
async function addLines(path: string, lines: readonly string[]): Promise<void> {
  const text = (await readText(path)) ?? ''
  const have = new Set(text.split('\n'))
  const missing = lines.filter((line) => !have.has(line))
  if (missing.length > 0)
    await appendFile(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`)
}
