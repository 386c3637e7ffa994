import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Builds one target of the Dockerfile with docker, or with a program that is called as docker is; gives the image's name and
 * how long it took. Throws when it fails.
 */
export async function buildImage(
  builder: string,
  target: string,
  tag: string,
): Promise<{ name: string; seconds: number }> {
  const name = `process-automation-${target}:${tag}`
  const began = performance.now()
  await follow(builder, ['build', '-t', name, '--target', target, '.'])
  return { name, seconds: (performance.now() - began) / 1000 }
}

/** Writes images into one archive, as `docker save` does. */
export async function saveImages(builder: string, names: string[], file: string): Promise<void> {
  await follow(builder, isDocker(builder) ? ['save', '-o', file, ...names] : ['save', ...names, file])
}

/** Whether a builder has the commands of docker beyond `build`. */
export const isDocker = (builder: string) => /^(docker|podman|nerdctl)$/.test(basename(builder))

/**
 * Builds one target for one platform from scratch into an archive with an OCI layout, with docker or with a program that builds as
 * buildah does. Files and layers have the time that is given, in seconds since 1970, so that the same source makes the same digest.
 * Rejects when it fails.
 */
export async function buildArchive({
  builder,
  target,
  context,
  platform,
  archive,
  labels,
  time,
}: {
  builder: string
  target: string
  context: string
  platform: string
  archive: string
  labels: Readonly<Record<string, string>>
  time: number
}): Promise<void> {
  const named = Object.entries(labels).flatMap(([name, value]) => ['--label', `${name}=${value}`])
  const options = ['--target', target, '--platform', platform, ...named]
  if (isDocker(builder)) {
    const timed = ['--build-arg', `SOURCE_DATE_EPOCH=${time}`, '--provenance=false', '--sbom=false']
    const output = `type=oci,dest=${archive},rewrite-timestamp=true`
    await follow(builder, ['buildx', 'build', '--no-cache', ...options, ...timed, '--output', output, context])
    return
  }
  // Straight into the archive: neither the image nor one on the way to it stays on this machine.
  const alone = ['--no-cache', '--layers=false', '--disable-compression=false', '--timestamp', `${time}`]
  await follow(builder, ['build', ...alone, ...options, '-t', `oci-archive:${archive}`, context])
}

/** Megabytes of an image: unpacked with docker, else compressed, or undefined where the builder can't say. */
export async function sizeOf(builder: string, name: string): Promise<number | undefined> {
  if (isDocker(builder)) {
    const { stdout } = await run(builder, ['image', 'inspect', '--format', '{{.Size}}', name])
    return Number(stdout) / 1e6
  }
  const { stdout } = await run(builder, ['layers', name])
  const all = /([\d.]+) MB {2}in all/.exec(stdout)?.[1]
  return all === undefined ? undefined : Number(all)
}

/** What it says goes to standard error: our own output stays readable. */
async function follow(file: string, args: string[]): Promise<void> {
  const child = spawn(file, args, { stdio: ['ignore', process.stderr, process.stderr] })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${code}`)
}
