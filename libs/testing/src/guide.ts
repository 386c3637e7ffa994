import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const guides = new URL('../../../docs/guides/operating/', import.meta.url)

/** Runs the commands that a guide for operators has under this name, in the folder `cwd`. */
export async function follow(guide: string, name: string, env: Record<string, string>, cwd?: string): Promise<void> {
  const text = await readFile(new URL(`${guide}.md`, guides), 'utf8')
  const [, commands] = new RegExp('^```sh ' + name + '\\n(.*?)^```', 'ms').exec(text) ?? []
  if (commands === undefined) throw new Error(`The guide ${guide} has no commands ${name}`)
  await promisify(execFile)('bash', ['-euc', commands], { env: { ...process.env, ...env }, cwd })
}
