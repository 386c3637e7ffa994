import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { freePorts, repositoryRoot } from '../../system/system.ts'

/** Servers of others that a campaign has, by the scripts in SERVICES_DIR (`../shared/services`); undefined where there is none. */
export class OutsideServers {
  readonly s3: Record<string, string> | undefined
  readonly kafkaBrokers: string | undefined
  readonly #own: ReadonlyMap<Script, Record<string, string>>
  readonly #folder: string

  private constructor(
    folder: string,
    own: ReadonlyMap<Script, Record<string, string>>,
    exports: Partial<Record<Script, Record<string, string>>>,
  ) {
    this.#folder = folder
    this.#own = own
    this.s3 = exports.s3
    this.kafkaBrokers = exports.kafka?.['KAFKA_BROKERS']
  }

  /** Starts those of `wanted` whose scripts are there, on ports of their own. */
  static async start(wanted: readonly Script[]): Promise<OutsideServers> {
    const folder = await mkdtemp(join(tmpdir(), 'automation-chaos-servers-'))
    const [s3Port, ...kafkaPorts] = [(await freePorts(1))[0]!, ...(await freePortRows(2))]
    const settings: Record<Script, Record<string, string>> = {
      s3: { S3_PORT: `${s3Port}` },
      kafka: { KAFKA_PORT: `${kafkaPorts[0]}`, KAFKA_CONTROLLER_PORT: `${kafkaPorts[1]}` },
    }
    const own = new Map<Script, Record<string, string>>()
    const exports: Partial<Record<Script, Record<string, string>>> = {}
    for (const script of wanted) {
      if (!existsSync(pathOf(script))) continue
      own.set(script, { SERVICES_STATE: folder, ...settings[script] })
      exports[script] = exportsOf(
        await run(script, own.get(script)!, script === 'kafka' ? ['up', '--brokers', '3'] : ['up']),
      )
    }
    return new OutsideServers(folder, own, exports)
  }

  /** One command of the script of Kafka; gives what it prints. */
  kafka(...args: string[]): Promise<string> {
    return run('kafka', this.#own.get('kafka')!, args)
  }

  async stop(): Promise<void> {
    for (const [script, settings] of this.#own) await run(script, settings, ['clean'])
    await rm(this.#folder, { recursive: true, force: true })
  }
}

export type Script = 'kafka' | 's3'

const folderOfScripts = resolve(repositoryRoot, process.env['SERVICES_DIR'] ?? '../shared/services')
const pathOf = (script: Script) => join(folderOfScripts, script)

async function run(script: Script, env: Record<string, string>, args: string[]): Promise<string> {
  const options = { env: { ...process.env, ...env }, maxBuffer: 2 ** 30 }
  return (await promisify(execFile)(pathOf(script), args, options)).stdout
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

/** First ports of rows of three that are free now. */
async function freePortRows(count: number): Promise<number[]> {
  const found: number[] = []
  while (found.length < count) {
    const ports = new Set(await freePorts(200))
    const first = [...ports].find((port) => ports.has(port + 1) && ports.has(port + 2))
    if (first !== undefined && !found.includes(first)) found.push(first)
  }
  return found
}
