import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './run.ts'
import type { Source } from './source.ts'

/** Makes the tarballs for npm and the wheel of the Python client in a folder; gives what is missing. */
export async function makePackages(folder: string, source: Source): Promise<string[]> {
  return [...(await makeTarballs(folder, source)), ...(await makeWheel(folder, source))]
}

/** What is bundled is what the lock file names, not what lies in this machine's node_modules. */
async function makeTarballs(folder: string, { folder: cwd }: Source): Promise<string[]> {
  try {
    await run('npm', ['ci', '--ignore-scripts', '--prefer-offline'], { cwd })
    await run(process.execPath, ['scripts/pack.ts', '--out', folder], { cwd })
  } catch (error) {
    return [`the packages for npm: ${(error as Error).message}`]
  }
  for (const name of await readdir(folder))
    if (!name.endsWith('.tgz')) await rm(join(folder, name), { recursive: true })
  return []
}

async function makeWheel(folder: string, { folder: cwd, time }: Source): Promise<string[]> {
  try {
    const wheel = ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', folder, './clients/python']
    await run('python3', wheel, { cwd, env: { ...process.env, SOURCE_DATE_EPOCH: String(time) } })
    return []
  } catch (error) {
    return [`the Python client: pip could not build its wheel: ${(error as Error).message}`]
  }
}
