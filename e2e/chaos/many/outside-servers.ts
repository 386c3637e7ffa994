import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { freePorts } from '@automation/testing/free-ports'
import { repositoryRoot } from '../../system/system.ts'

type Script = 's3' | 'kafka'

const scripts = resolve(repositoryRoot, process.env['SERVICES_DIR'] ?? '../shared/services')
const has = (script: Script) => existsSync(join(scripts, script))

/** Servers of others that a campaign has, by the scripts in SERVICES_DIR (`../shared/services`), on ports of their own. */
export class OutsideServers {
  /** What a system is told of the S3 server; undefined where there is no script for one. */
  s3: Record<string, string> | undefined
  /** Undefined where there is no script for it, or it is not wanted. */
  kafka: KafkaBrokers | undefined
  readonly #folder: string
  readonly #env: Record<Script, Record<string, string>>

  private constructor(folder: string, env: Record<Script, Record<string, string>>) {
    this.#folder = folder
    this.#env = env
  }

  /** Starts an S3 server and, where Kafka is wanted, three brokers. */
  static async start({ withKafka }: { withKafka: boolean }): Promise<OutsideServers> {
    const folder = await mkdtemp(join(tmpdir(), 'automation-chaos-servers-'))
    const [[s3], [brokers], [controllers]] = [await freeRow(1), await freeRow(size), await freeRow(size)]
    const servers = new OutsideServers(folder, {
      s3: { SERVICES_STATE: folder, S3_PORT: `${s3}` },
      kafka: { SERVICES_STATE: folder, KAFKA_PORT: `${brokers}`, KAFKA_CONTROLLER_PORT: `${controllers}` },
    })
    try {
      await servers.#start(withKafka)
      return servers
    } catch (error) {
      await servers.stop()
      throw error
    }
  }

  async #start(withKafka: boolean): Promise<void> {
    const env = this.#env
    if (has('s3')) this.s3 = exportsOf(await run('s3', env.s3, 'up'))
    if (!withKafka || !has('kafka')) return
    const { KAFKA_BROKERS } = exportsOf(await run('kafka', env.kafka, 'up', '--brokers', `${size}`))
    this.kafka = new KafkaBrokers(KAFKA_BROKERS!, join(this.#folder, 'kafka'), (...args) =>
      run('kafka', env.kafka, ...args),
    )
  }

  /** They are gone with all that they have kept. */
  async stop(): Promise<void> {
    for (const script of ['s3', 'kafka'] as const) if (has(script)) await run(script, this.#env[script], 'clean')
    await rm(this.#folder, { recursive: true, force: true })
  }
}

const size = 3

/** Three brokers, each a controller as well. */
export class KafkaBrokers {
  /** For KAFKA_BROKERS. */
  readonly addresses: string
  readonly #folder: string
  readonly #run: (...args: string[]) => Promise<string>

  constructor(addresses: string, folder: string, run: (...args: string[]) => Promise<string>) {
    this.addresses = addresses
    this.#folder = folder
    this.#run = run
  }

  /** The number of the controller that leads the others. */
  async controller(): Promise<number> {
    const epochs = Array.from({ length: size }, async (_, index) => {
      const log = await readFile(join(this.#folder, `broker-${index + 1}.log`), 'utf8')
      return Math.max(
        -1,
        ...[...log.matchAll(/transition to Leader\(.*?\bepoch=(\d+)/g)].map(([, epoch]) => Number(epoch)),
      )
    })
    const known = await Promise.all(epochs)
    return known.indexOf(Math.max(...known)) + 1
  }

  async kill(broker: number): Promise<void> {
    await this.#run('stop-broker', `${broker}`)
  }

  /** Resolves when it serves. */
  async start(broker: number): Promise<void> {
    await this.#run('start-broker', `${broker}`)
  }
}

/** So many free ports, one behind the other. */
async function freeRow(count: number): Promise<number[]> {
  for (;;) {
    const ports = await freePorts(count)
    if (ports.every((port, index) => port === ports[0]! + index)) return ports
  }
}

async function run(script: Script, env: Record<string, string>, ...args: string[]): Promise<string> {
  const options = { env: { ...process.env, ...env }, maxBuffer: 2 ** 30 }
  return (await promisify(execFile)(join(scripts, script), args, options)).stdout
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
