import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
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

/** An image of a release: its digest, and the platforms that it was built for. */
export interface Image {
  digest: string
  platforms: string[]
}

/** The platform of this machine, as images name it. */
export const ownPlatform = `linux/${{ x64: 'amd64' }[process.arch as string] ?? process.arch}`

/** Why a builder can't make images for a platform, or undefined where it can. */
export function unbuildable(builder: string, platform: string): string | undefined {
  if (isDocker(builder) || platform === ownPlatform) return undefined
  return `images for ${platform}: ${builder} builds for this machine (${ownPlatform}) alone; build them with docker buildx, or on a machine of that platform`
}

/**
 * Builds images from the files of the commit into the layout `images` of the release, each for all platforms that can be built
 * here. Gives them by their names; what is missing is added to `missing`, a line for each.
 */
export async function makeImages(options: ImagesOptions, missing: string[]): Promise<Map<string, Image>> {
  const { builder, out, version, source, bases } = options
  const layout = join(out, 'images')
  await beginLayout(layout)
  const dockerfile = join(source.folder, 'Dockerfile')
  await writeFile(dockerfile, pinBases(await readFile(dockerfile, 'utf8'), bases))
  missing.push(...options.platforms.flatMap((platform) => unbuildable(builder, platform) ?? []))
  const platforms = options.platforms.filter((platform) => unbuildable(builder, platform) === undefined)
  const images = new Map<string, Image>()
  for (const target of options.images) {
    const made: { platform: string; folder: string }[] = []
    const work = await mkdtemp(join(tmpdir(), 'release-image-'))
    try {
      for (const platform of platforms) {
        const folder = join(work, String(made.length))
        const fault = await buildInto(folder, { builder, target, platform, version, source })
        if (fault === undefined) made.push({ platform, folder })
        else missing.push(`image ${target} for ${platform}: ${fault}`)
      }
      if (made.length > 0)
        images.set(target, {
          digest: await addImage(layout, `${target}:${version}`, made),
          platforms: made.map(({ platform }) => platform),
        })
    } finally {
      await rm(work, { recursive: true })
    }
  }
  return images
}

/** One image of one platform as a layout of its own; gives why it failed. */
async function buildInto(
  folder: string,
  {
    source,
    version,
    ...build
  }: Pick<ImagesOptions, 'builder' | 'version' | 'source'> & { target: string; platform: string },
): Promise<string | undefined> {
  await mkdir(folder)
  const archive = `${folder}.tar`
  const labels = {
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.revision': source.commit,
    'org.opencontainers.image.licenses': 'Apache-2.0',
  }
  try {
    await buildArchive({ ...build, context: source.folder, archive, labels, time: source.time })
    await run('tar', ['-xf', archive, '-C', folder])
    await rm(archive)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
