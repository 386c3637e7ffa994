import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { repositoryRoot } from './system.ts'

/** A Python environment with what the file of requirements names: its folder `bin`, or in words why there is none. */
export type PythonEnvironment = { bin: string } | { fault: string }

/**
 * The environment of this name below `.cache`, which is made from PyPI where it is not there, or the file has changed.
 * `requirements`: path of a file for pip.
 */
export async function pythonEnvironment(name: string, requirements: string): Promise<PythonEnvironment> {
  const wanted = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
  const folder = join(repositoryRoot, '.cache', `${name}-${wanted.slice(0, 12)}`)
  const found = { bin: join(folder, 'bin') }
  const mark = join(folder, 'complete')
  if (existsSync(mark)) return found
  console.log(`${name} is installed from PyPI, once`)
  await rm(folder, { recursive: true, force: true })
  const made = await faultOf('python3', ['-m', 'venv', folder])
  if (made !== undefined) return { fault: `python3 makes no virtual environment: ${made}` }
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-input', '--requirement', requirements]
  const installed = await faultOf(join(folder, 'bin/python3'), pip)
  if (installed === undefined) {
    await writeFile(mark, '')
    return found
  }
  await rm(folder, { recursive: true, force: true })
  return { fault: `PyPI is not reached, or lacks what is asked for: ${installed}` }
}

/** Undefined where the command succeeds, else its last words. */
async function faultOf(command: string, args: string[]): Promise<string | undefined> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let words = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return code === 0 ? undefined : (words.trim().split('\n').at(-1) ?? `${command} ended with ${code}`)
}
