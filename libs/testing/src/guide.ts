import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const guides = new URL('../../../docs/guides/operating/', import.meta.url)

/** The commands that a guide for operators has under this name. */
export async function commandsOf(guide: string, name: string): Promise<string> {
  const text = await readFile(new URL(`${guide}.md`, guides), 'utf8')
  const [, commands] = new RegExp('^```sh ' + name + '\\n(.*?)^```', 'ms').exec(text) ?? []
  if (commands === undefined) throw new Error(`The guide ${guide} has no commands ${name}`)
  return commands
}

/** Runs them in the folder `cwd`. */
export async function follow(guide: string, name: string, env: Record<string, string>, cwd?: string): Promise<void> {
  await run('bash', ['-euc', await commandsOf(guide, name)], { env: { ...process.env, ...env }, cwd })
}

/** Commands of a document that are run as they stand there. */
export interface Step {
  commands: string
  /** The block behind, which shows what they print; … stands for anything. */
  shown: string | undefined
}

/** The blocks of a document that are `sh` and nothing else, each with the block that shows its output. */
export function stepsIn(text: string): Step[] {
  const blocks = [...text.matchAll(/^```(.*)\n([^]*?)^```$/gm)].map(([, kind = '', body = '']) => ({ kind, body }))
  return blocks.flatMap(({ kind, body }, index) => {
    const next = blocks[index + 1]
    const shown = next !== undefined && /^(json|text)$/.test(next.kind) ? next.body.trim() : undefined
    return kind === 'sh' ? [{ commands: body, shown }] : []
  })
}

const mark = '--- next step ---'

/** Runs the commands of all steps in one shell; gives what each printed. */
export async function printedBy(commands: string[], cwd: string, env = process.env): Promise<string[]> {
  const script = commands.join(`\necho; echo '${mark}'\n`)
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd, env })
  return stdout.split(mark)
}

/** What fits the output that a document shows. */
export function fitting(shown: string): RegExp {
  const parts = shown.split('…').map((part) => RegExp.escape(part.trim()))
  return new RegExp(parts.join('[^]*'))
}
