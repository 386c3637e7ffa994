import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { freePorts, repositoryRoot } from '../../system/system.ts'

const script = join(resolve(repositoryRoot, process.env['SERVICES_DIR'] ?? '../shared/services'), 's3')

/** An S3 server that a campaign has, by the script in SERVICES_DIR (`../shared/services`). */
export class OutsideS3 {
  /** What a system is told of it; undefined where there is no script. */
  readonly settings: Record<string, string> | undefined
  readonly #folder: string
  readonly #env: Record<string, string>

  private constructor(folder: string, env: Record<string, string>, settings: Record<string, string> | undefined) {
    this.#folder = folder
    this.#env = env
    this.settings = settings
  }

  /** Starts it where its script is there, on a port of its own. */
  static async start(): Promise<OutsideS3> {
    const folder = await mkdtemp(join(tmpdir(), 'automation-chaos-servers-'))
    const [port] = await freePorts(1)
    const env = { SERVICES_STATE: folder, S3_PORT: `${port}` }
    try {
      return new OutsideS3(folder, env, existsSync(script) ? exportsOf(await run(env, 'up')) : undefined)
    } catch (error) {
      await remove(folder, env)
      throw error
    }
  }

  /** It is gone with all that it has kept. */
  stop(): Promise<void> {
    return remove(this.#folder, this.#env)
  }
}

async function remove(folder: string, env: Record<string, string>): Promise<void> {
  if (existsSync(script)) await run(env, 'clean')
  await rm(folder, { recursive: true, force: true })
}

async function run(env: Record<string, string>, command: string): Promise<string> {
  const options = { env: { ...process.env, ...env }, maxBuffer: 2 ** 30 }
  return (await promisify(execFile)(script, [command], options)).stdout
}

/** `export NAME=value` lines, as an object; values may stand in quotes. */
function exportsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name, value]) => [
      name!,
      value!.replace(/^(['"])(.*)\1$/, '$2'),
    ]),
  )
}
