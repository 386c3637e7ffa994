import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './run.ts'

/** The commit that a release is made of. */
export interface Source {
  root: string
  commit: string
  /** When it was committed, in seconds since 1970: the time of every file of the release. */
  time: number
  dockerfile: string
}

/** The commit that is checked out. Rejects where files differ from it, or say another version than the release. */
export async function readSource(root: string, version: string): Promise<Source> {
  const git = async (...args: string[]) => (await run('git', args, { cwd: root })).trim()
  const changed = await git('status', '--porcelain', '--untracked-files=no')
  if (changed !== '') throw new Error(`a release is made of a commit, but these files differ from it:\n${changed}`)
  const faults = versionFaults(version, {
    'package.json': await readFile(join(root, 'package.json'), 'utf8'),
    'charts/process-automation/Chart.yaml': await readFile(join(root, 'charts/process-automation/Chart.yaml'), 'utf8'),
    'clients/python/pyproject.toml': await readFile(join(root, 'clients/python/pyproject.toml'), 'utf8'),
  })
  if (faults.length > 0) throw new Error(`this commit is not of version ${version}: ${faults.join('; ')}`)
  const [commit = '', time] = (await git('log', '-1', '--format=%H %ct')).split(' ')
  return { root, commit, time: Number(time), dockerfile: await readFile(join(root, 'Dockerfile'), 'utf8') }
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

/** Its files, all with the time of the commit. */
export async function unpackSource({ root, commit }: Source, folder: string): Promise<void> {
  const archive = join(folder, '.source.tar')
  await run('git', ['archive', '--format', 'tar', '--output', archive, commit], { cwd: root })
  await run('tar', ['-xf', archive, '-C', folder])
  await run('rm', [archive])
}
