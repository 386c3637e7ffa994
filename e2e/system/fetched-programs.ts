import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { repositoryRoot } from './system.ts'

/** Where the programs of a folder are; or in words why they can't be. */
export type Found = { bin: string } | { fault: string }

/**
 * Programs of PyPI in an environment of their own below `.cache`, which is made where it is not there, or the file has
 * changed. `requirements`: path of a file for pip.
 */
export async function fromPypi(name: string, requirements: string): Promise<Found> {
  return fetched(name, await readFile(requirements, 'utf8'), 'bin', async (folder) => {
    const made = await faultOf('python3', ['-m', 'venv', folder])
    if (made !== undefined) return `python3 makes no virtual environment: ${made}`
    const pip = ['-m', 'pip', 'install', '--quiet', '--no-input', '--requirement', requirements]
    const fault = await faultOf(join(folder, 'bin/python3'), pip)
    return fault && `PyPI is not reached, or lacks what is asked for: ${fault}`
  })
}

/** The same for packages of npm, `name@version` each. Nothing of them is run while they are installed. */
export function fromNpm(name: string, packages: readonly string[]): Promise<Found> {
  return fetched(name, packages.join(), 'node_modules/.bin', async (folder) => {
    await mkdir(folder, { recursive: true })
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error']
    const fault = await faultOf('npm', ['install', '--prefix', folder, ...quiet, ...packages])
    return fault && `The registry of npm is not reached, or lacks what is asked for: ${fault}`
  })
}

async function fetched(
  name: string,
  wanted: string,
  bin: string,
  install: (folder: string) => Promise<string | undefined>,
): Promise<Found> {
  const digest = createHash('sha256').update(wanted).digest('hex').slice(0, 12)
  const folder = join(repositoryRoot, '.cache', `${name}-${digest}`)
  const found = { bin: join(folder, bin) }
  const mark = join(folder, 'complete')
  if (existsSync(mark)) return found
  console.log(`${name} is fetched, once`)
  await rm(folder, { recursive: true, force: true })
  const fault = await install(folder)
  if (fault === undefined) {
    await writeFile(mark, '')
    return found
  }
  await rm(folder, { recursive: true, force: true })
  return { fault }
}

/** Undefined where the command succeeds, else its last words. */
async function faultOf(command: string, args: string[]): Promise<string | undefined> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let words = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return code === 0 ? undefined : (words.trim().split('\n').at(-1) ?? `${command} ended with ${code}`)
}
