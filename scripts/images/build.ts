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

const isDocker = (builder: string) => /^(docker|podman|nerdctl)$/.test(basename(builder))

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
