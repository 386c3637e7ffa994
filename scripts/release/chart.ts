import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { chartChanges, withChanges } from './chart-changes.ts'
import { run } from './run.ts'
import type { Source } from './source.ts'

/**
 * Packages the chart with the digests of the images, which then count in place of their tags, and with what is new in it; gives
 * what is missing.
 */
export async function packageChart({
  source,
  out,
  version,
  digests,
}: {
  source: Source
  out: string
  version: string
  digests: ReadonlyMap<string, string>
}): Promise<string[]> {
  const work = await mkdtemp(join(tmpdir(), 'release-chart-'))
  try {
    const chart = join(work, 'process-automation')
    await cp(join(source.folder, 'charts/process-automation'), chart, { recursive: true })
    const values = join(chart, 'values.yaml')
    await writeFile(values, withDigests(await readFile(values, 'utf8'), digests))
    const about = join(chart, 'Chart.yaml')
    const changes = chartChanges(await readFile(join(source.folder, 'CHANGELOG.md'), 'utf8'), version)
    await writeFile(about, withChanges(await readFile(about, 'utf8'), changes))
    await run('helm', ['package', chart, '--version', version, '--app-version', version, '--destination', work])
    const name = `process-automation-${version}.tgz`
    await writeFile(join(out, name), await packedAlike(join(work, name), source.time))
    return []
  } catch (error) {
    const isAway = (error as { cause?: NodeJS.ErrnoException }).cause?.code === 'ENOENT'
    return [`the chart: ${isAway ? 'helm is not on the PATH' : (error as Error).message}`]
  } finally {
    await rm(work, { recursive: true })
  }
}

/** The same archive with the time of the commit in place of that of packaging, and its files in one order. */
async function packedAlike(archive: string, time: number): Promise<Buffer> {
  const folder = await mkdtemp(`${archive}-`)
  await run('tar', ['-xf', archive, '-C', folder])
  const alike = ['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX']
  await run('tar', [...alike, '--format=ustar', '-cf', `${folder}.tar`, '-C', folder, 'process-automation'])
  return gzipSync(await readFile(`${folder}.tar`), { level: 9 })
}

/** The values of the chart with the digests of images; all else stays as it is, comments too. */
export function withDigests(values: string, digests: ReadonlyMap<string, string>): string {
  if (digests.size === 0) return values
  const empty = /^ {2}digests: \{\}$/m
  if (!empty.test(values)) throw new Error('values.yaml has no line `  digests: {}`')
  const lines = [...digests].map(([name, digest]) => `    ${name}: ${digest}`)
  return values.replace(empty, ['  digests:', ...lines].join('\n'))
}
