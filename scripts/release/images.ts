import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildArchive, isDocker } from '../images/build.ts'
import { pinBases } from './bases.ts'
import { addImage, beginLayout } from './layout.ts'
import { run } from './run.ts'
import type { Source } from './source.ts'

interface ImagesOptions {
  builder: string
  out: string
  version: string
  platforms: string[]
  images: string[]
  bases: ReadonlyMap<string, string>
  source: Source
}

/** The platform of this machine, as images name it. */
export const ownPlatform = `linux/${{ x64: 'amd64' }[process.arch as string] ?? process.arch}`

/** Why a builder can't make images for a platform, or undefined where it can. */
export function unbuildable(builder: string, platform: string): string | undefined {
  if (isDocker(builder) || platform === ownPlatform) return undefined
  return `images for ${platform}: ${builder} builds for this machine (${ownPlatform}) alone; build them with docker buildx, or on a machine of that platform`
}

/**
 * Builds all images from the files in `context` into the layout `images` of the release, each for all platforms that can be
 * built here. Gives the digests by the names of the images, and what is missing, a line for each.
 */
export async function makeImages(
  options: ImagesOptions,
  context: string,
): Promise<{ digests: Map<string, string>; missing: string[] }> {
  const { builder, out, version, images, source, bases } = options
  const layout = join(out, 'images')
  await beginLayout(layout)
  await writeFile(join(context, 'Dockerfile'), pinBases(source.dockerfile, bases))
  const missing = options.platforms.flatMap((platform) => unbuildable(builder, platform) ?? [])
  const platforms = options.platforms.filter((platform) => unbuildable(builder, platform) === undefined)
  const digests = new Map<string, string>()
  for (const target of images) {
    const made: { platform: string; folder: string }[] = []
    const work = await mkdtemp(join(tmpdir(), 'release-image-'))
    try {
      for (const platform of platforms) {
        const folder = join(work, String(made.length))
        const fault = await buildInto(folder, { builder, target, context, platform, version, source })
        if (fault === undefined) made.push({ platform, folder })
        else missing.push(`image ${target} for ${platform}: ${fault}`)
      }
      if (made.length > 0) digests.set(target, await addImage(layout, `${target}:${version}`, made))
    } finally {
      await rm(work, { recursive: true })
    }
  }
  return { digests, missing }
}

/** One image of one platform as a layout of its own; gives why it failed. */
async function buildInto(
  folder: string,
  {
    source,
    version,
    ...build
  }: Pick<ImagesOptions, 'builder' | 'version' | 'source'> & { target: string; context: string; platform: string },
): Promise<string | undefined> {
  await mkdir(folder)
  const archive = `${folder}.tar`
  const labels = {
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.revision': source.commit,
    'org.opencontainers.image.licenses': 'Apache-2.0',
  }
  try {
    await buildArchive({ ...build, archive, labels, time: source.time })
    await run('tar', ['-xf', archive, '-C', folder])
    await rm(archive)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
