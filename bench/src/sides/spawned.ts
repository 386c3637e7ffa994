import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { python } from './python.ts'
import type { About } from './side.ts'

/** A program that prints `{"n":1}`. */
export interface Plain {
  file: string
  args: string[]
  cwd?: string
  env?: Record<string, string>
}

/** The interpreter of a language that does nothing else. */
export const plainPrograms: Record<'javascript' | 'python', () => Plain> = {
  javascript: () => ({ file: process.execPath, args: ['-e', `process.stdout.write('{"n":1}')`] }),
  python: () => ({ file: python().file, args: ['-c', `print('{"n":1}', end="", flush=True)`] }),
}

export const spawnAbout: About = {
  get software() {
    return `node ${process.version} and python ${python().version} started to print one line`
  },
  isolation: 'none',
  durability: 'none',
}

/** How long a program takes from its start to its answer on standard output, in ms. Throws on a wrong one. */
export async function spawnedMs({ file, args, cwd, env }: Plain): Promise<number> {
  const startedAt = performance.now()
  const child = spawn(file, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  const [answer] = (await once(child.stdout, 'data')) as [Buffer]
  const tookMs = performance.now() - startedAt
  await closed
  if ((JSON.parse(answer.toString()) as { n: number }).n !== 1) throw new Error(`${file} printed ${answer.toString()}`)
  return tookMs
}
