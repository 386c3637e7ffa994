import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A Kafka cluster of its own, started by the services' script. */
export class Cluster {
  readonly brokers: string[]
  readonly #script: string
  readonly #env: NodeJS.ProcessEnv
  readonly #folder: string

  private constructor(script: string, env: NodeJS.ProcessEnv, folder: string, brokers: string[]) {
    this.#script = script
    this.#env = env
    this.#folder = folder
    this.brokers = brokers
  }

  /** Throws with what to do where the script is missing. */
  static async start(size: number): Promise<Cluster> {
    const script = resolve(process.env['SERVICES_DIR'] ?? '../shared/services', 'kafka')
    await access(script).catch(() => {
      throw new Error(`There is no ${script}; SERVICES_DIR names the folder with the scripts that start real servers`)
    })
    const folder = await mkdtemp(join(tmpdir(), 'broker-test-'))
    const port = Number(process.env['BROKER_TEST_PORT'] ?? 9592)
    const ports = { KAFKA_PORT: String(port), KAFKA_CONTROLLER_PORT: String(port + 10) }
    const env = { ...process.env, ...ports, SERVICES_STATE: folder }
    const { stdout } = await run(script, ['up', '--brokers', String(size)], { env })
    const brokers = /KAFKA_BROKERS=(\S+)/.exec(stdout)?.[1]?.split(',') ?? []
    return new Cluster(script, env, folder, brokers)
  }

  /** SIGKILL. */
  async kill(broker: number): Promise<void> {
    await run(this.#script, ['stop-broker', String(broker)], { env: this.#env })
  }

  async revive(broker: number): Promise<void> {
    await run(this.#script, ['start-broker', String(broker)], { env: this.#env })
  }

  async remove(): Promise<void> {
    await run(this.#script, ['clean'], { env: this.#env })
    await rm(this.#folder, { recursive: true, force: true })
  }
}
