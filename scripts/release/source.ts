import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './run.ts'

/** The commit that a release is made of. */
export interface Source {
  /** A folder of its own with the files of the commit and nothing else. */
  folder: string
  commit: string
  /** When it was committed, in seconds since 1970: the time of every file of the release. */
  time: number
}

/**
 * Works with the files of the commit that is checked out in `root`, unpacked elsewhere, so that nothing else of this machine gets
 * into a release. Rejects where files under version control differ from it, or say another version than the release.
 */
export async function withSource<Result>(
  root: string,
  version: string,
  work: (source: Source) => Promise<Result>,
): Promise<Result> {
  const git = async (...args: string[]) => (await run('git', args, { cwd: root })).trim()
  const changed = await git('status', '--porcelain', '--untracked-files=no')
  if (changed !== '') throw new Error(`a release is made of a commit, but these files differ from it:\n${changed}`)
  const [commit = '', time] = (await git('log', '-1', '--format=%H %ct')).split(' ')
  const folder = await mkdtemp(join(tmpdir(), 'release-'))
  try {
    await unpack(root, commit, folder)
    await expectVersion(folder, version)
    return await work({ folder, commit, time: Number(time) })
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** All files get the time of the commit. */
async function unpack(root: string, commit: string, folder: string): Promise<void> {
  const archive = join(folder, '.source.tar')
  await run('git', ['archive', '--format', 'tar', '--output', archive, commit], { cwd: root })
  await run('tar', ['-xf', archive, '-C', folder])
  await rm(archive)
}

async function expectVersion(folder: string, version: string): Promise<void> {
  const paths = ['package.json', 'charts/process-automation/Chart.yaml', 'clients/python/pyproject.toml']
  const texts = paths.map(async (path) => [path, await readFile(join(folder, path), 'utf8')] as const)
  const faults = versionFaults(version, Object.fromEntries(await Promise.all(texts)))
  if (faults.length > 0) throw new Error(`this commit is not of version ${version}: ${faults.join('; ')}`)
}

/** The files that say another version, each with what it says. */
export function versionFaults(version: string, files: Readonly<Record<string, string>>): string[] {
  return Object.entries(files).flatMap(([path, text]) => {
    const said = [...text.matchAll(/^\s*"?(?:version|appVersion)"?\s*[:=]\s*"?([^",\s]+)"?,?$/gm)].map(([, one]) => one)
    const others = said.filter((one) => one !== version)
    if (said.length === 0) return [`${path} says no version`]
    return others.length === 0 ? [] : [`${path} says ${[...new Set(others)].join(' and ')}`]
  })
}
