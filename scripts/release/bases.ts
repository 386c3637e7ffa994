import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDocker } from '../images/build.ts'
import { run } from './run.ts'
import type { Source } from './source.ts'

const fromLine = /^FROM (?:--platform=\S+ )?(\S+)/gm

/** The images of others that a Dockerfile builds on: what its stages begin with and what is none of them. */
export function basesIn(dockerfile: string): string[] {
  const stages = new Set([...dockerfile.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, stage]) => stage))
  const named = [...dockerfile.matchAll(fromLine)].map(([, name = '']) => name)
  return [...new Set(named.filter((name) => name !== 'scratch' && !stages.has(name)))]
}

/** The same Dockerfile on exactly those bases; `digests` has the digest of each (sha256:…), those without one stay as they are. */
export function pinBases(dockerfile: string, digests: ReadonlyMap<string, string>): string {
  return dockerfile.replaceAll(fromLine, (line, name: string) =>
    digests.has(name) ? line.replace(name, `${name}@${digests.get(name)}`) : line,
  )
}

/**
 * Digests of the base images, by their names: those of a file, or those that the registry has for their tags now. None where
 * those of this machine are to be used. Rejects where one is not known.
 */
export async function readBases(
  { builder, basesFile, localBases }: { builder: string; basesFile: string | undefined; localBases: boolean },
  { folder }: Source,
): Promise<Map<string, string>> {
  if (localBases) return new Map()
  const names = basesIn(await readFile(join(folder, 'Dockerfile'), 'utf8'))
  if (basesFile !== undefined) {
    const known = await digestsIn(basesFile)
    const unknown = names.filter((name) => !/^sha256:[0-9a-f]{64}$/.test(known.get(name) ?? ''))
    if (unknown.length > 0) throw new Error(`${basesFile} has no digest of ${unknown.join(', ')}`)
    return new Map(names.map((name) => [name, known.get(name)!]))
  }
  if (!isDocker(builder))
    throw new Error(`${builder} can't look up the digests of ${names.join(', ')}: name them by --bases`)
  return new Map(await Promise.all(names.map(async (name) => [name, await digestInRegistry(builder, name)] as const)))
}

async function digestsIn(file: string): Promise<Map<string, string>> {
  try {
    return new Map(Object.entries(JSON.parse(await readFile(file, 'utf8')) as Record<string, string>))
  } catch (error) {
    const words = `${file} has no digests of base images as base-images.json of a release has them`
    throw new Error(`${words}: ${(error as Error).message}`, { cause: error })
  }
}

async function digestInRegistry(builder: string, name: string): Promise<string> {
  try {
    return (await run(builder, ['buildx', 'imagetools', 'inspect', '--format', '{{.Manifest.Digest}}', name])).trim()
  } catch (error) {
    const words = `${builder} buildx did not tell the digest of ${name} (${(error as Error).message})`
    throw new Error(`${words}: install buildx and reach its registry, or name digests by --bases`, { cause: error })
  }
}
