import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pack } from '../pack.ts'
import { readBases } from './bases.ts'
import { packageChart } from './chart.ts'
import { readKey, writeChecksums } from './checksums.ts'
import { makeImages } from './images.ts'
import { provenanceOf } from './provenance.ts'
import { publishScript } from './publish.ts'
import { run } from './run.ts'
import { sbomOf } from './sbom.ts'
import { readSource, unpackSource, type Source } from './source.ts'

export interface ReleaseOptions {
  root: string
  /** The program that builds images. */
  builder: string
  version: string
  /** An absolute path. */
  out: string
  /** Such as linux/arm64. */
  platforms: string[]
  basesFile: string | undefined
  localBases: boolean
  /** Of images, chart, packages. */
  only: string[]
  images: string[]
  keyFile: string | undefined
}

/** Writes all files of a release; gives what could not be made here, a line for each. Rejects where nothing can be made at all. */
export async function release(options: ReleaseOptions): Promise<string[]> {
  const { root, out, version, only } = options
  const source = await readSource(root, version)
  // A key that can't sign is found before the work.
  const key = options.keyFile === undefined ? undefined : await readKey(options.keyFile)
  await mkdir(out, { recursive: true })
  if ((await readdir(out)).length > 0) throw new Error(`${out} is not empty: name a new folder by --out`)
  const missing: string[] = []
  const digests = new Map<string, string>()
  let bases = new Map<string, string>()
  if (only.includes('images')) {
    bases = await readBases(options, source.dockerfile)
    await inSource(source, async (folder) => {
      const made = await makeImages({ ...options, bases, source }, folder)
      for (const [name, digest] of made.digests) digests.set(name, digest)
      missing.push(...made.missing)
    })
    await writeFile(join(out, 'base-images.json'), json(Object.fromEntries(bases)))
    await mkdir(join(out, 'sbom'))
    for (const name of digests.keys())
      await writeFile(join(out, 'sbom', `${name}.cdx.json`), json(await sbomOf(options, name, source)))
  }
  if (only.includes('packages')) missing.push(...(await makePackages(options, source)))
  if (only.includes('chart')) missing.push(...(await packageChart({ root, out, version, digests })))
  const provenance = await provenanceOf({ ...options, source, bases, digests })
  await writeFile(join(out, 'provenance.json'), json(provenance))
  // Half a release is not to be published by mistake.
  if (missing.length === 0) await writeFile(join(out, 'publish'), publishScript(version, digests), { mode: 0o755 })
  await writeChecksums(out, key)
  return missing
}

const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`

/** With the files of the commit in a folder of its own, so that nothing else of this machine gets into an image. */
async function inSource(source: Source, work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'release-'))
  try {
    await unpackSource(source, folder)
    await work(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The tarballs of npm and the wheel. */
async function makePackages({ root, out }: ReleaseOptions, { time }: Source): Promise<string[]> {
  const folder = join(out, 'packages')
  const tarballs = await pack(folder)
  for (const name of await readdir(folder))
    if (![...tarballs.values()].includes(join(folder, name))) await rm(join(folder, name), { recursive: true })
  try {
    const wheel = ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', folder, join(root, 'clients/python')]
    await run('python3', wheel, { env: { ...process.env, SOURCE_DATE_EPOCH: String(time) } })
    return []
  } catch (error) {
    return [`the Python client: pip could not build its wheel: ${(error as Error).message}`]
  }
}
