import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import { asFailure } from '@automation/errors'
import { served, type Handlers } from '@automation/rpc'
import { serve } from '@automation/rpc/wire'
import { silentLogger, until, userContext } from '@automation/testing'
import { Random } from '@automation/testing/random'
import pg from 'pg'
import type { ClusterUnderTest } from '../cluster-under-test.ts'
import { podsFile } from '../../pods-file.ts'
import { carrying, daemonImage, plain } from '../driver-under-test.ts'
import { internalKey, ReplicaProcess } from './replica.ts'

export interface CampaignOptions {
  cluster: ClusterUnderTest
  databaseUrl: string
  operations: number
  /** The same seed gives the same operations, not the same instants. */
  seed: number
  log(line: string): void
}

/** What was done, and how the sandboxes ended: numbers by name. */
export type CampaignReport = Record<string, number>

const failPoints = ['sandbox-row-written', 'sandbox-pod-made', 'sandbox-given', 'sandbox-end-written']
const settledMs = 120_000
const warm = 1

/** A catalog in which no team is suspended. */
const limits: Pick<Handlers<typeof TeamLimitService>, 'listTeamLimits'> = {
  listTeamLimits: async () => ({ revision: 1n, tellsSuspensions: true }),
}

/** Makes, kills and lets run out sandboxes by two replicas that crash and stop all the while; throws when anything is left. */
export async function leakCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const catalog = await serve([served(TeamLimitService, limits as Handlers<typeof TeamLimitService>)], {
    internalKey,
    maxMessageBytes: 8_000_000,
    host: '127.0.0.1',
    port: 0,
    logger: silentLogger,
  })
  const campaign = new Campaign(options, catalog.port)
  try {
    return await campaign.run()
  } finally {
    await campaign.close()
    await catalog.close(0)
  }
}

class Campaign {
  readonly #options: CampaignOptions
  readonly #catalogPort: number
  readonly #images: string
  readonly #pods: string
  readonly #sql: pg.Pool
  readonly #random: Random
  readonly #done: CampaignReport = {}
  readonly #calls = new Set<Promise<void>>()
  readonly #ids: string[] = []
  #replicas: ReplicaProcess[] = []

  constructor(options: CampaignOptions, catalogPort: number) {
    this.#options = options
    this.#catalogPort = catalogPort
    this.#random = new Random(options.seed)
    this.#images = join(tmpdir(), `${options.cluster.namespace}.json`)
    const images = [{ ...carrying, warm }, plain].map(({ memoryMb, ...image }) => ({
      ...image,
      memory: `${memoryMb}Mi`,
    }))
    writeFileSync(this.#images, JSON.stringify({ images, daemonImage, homeMb: 64 }))
    this.#pods = podsFile({ namespace: options.cluster.namespace })
    this.#sql = new pg.Pool({ connectionString: options.databaseUrl, options: '-c search_path=sandbox', max: 2 })
    this.#sql.on('error', () => undefined)
  }

  async run(): Promise<CampaignReport> {
    const { databaseUrl, operations, log } = this.#options
    const settings = {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      KUBECONFIG: process.env['KUBECONFIG'] ?? '',
      DATABASE_URL: databaseUrl,
      ENCRYPTION_KEY: 'for these tests alone',
      SANDBOX_DRIVER: 'kubernetes',
      KUBERNETES_PODS: this.#pods,
      SANDBOX_IMAGES: this.#images,
      TEAM_MAX_SANDBOXES: '6',
      SERVICE_PORTS: `catalog=${this.#catalogPort}`,
    }
    this.#replicas = [await ReplicaProcess.open(settings), await ReplicaProcess.open(settings)]
    for (const replica of this.#replicas) await replica.start()
    for (let at = 0; at < operations; at += 1) {
      await this.#operate()
      await pause(this.#random.next() * 600)
      if ((at + 1) % 20 === 0) log(`${at + 1} operations: ${JSON.stringify(this.#done)}`)
    }
    await this.#settle()
    await this.#isAsRowsSay()
    await this.#killAll()
    await this.#nothingIsLeft()
    return { ...this.#done, ...(await this.#endings()) }
  }

  async close(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.end('SIGKILL')))
    for (const replica of this.#replicas) replica.close()
    await Promise.all(this.#calls)
    await this.#sql.end()
    rmSync(this.#images, { force: true })
  }

  async #operate(): Promise<void> {
    const dice = this.#random.next()
    const replica = this.#random.pick(this.#replicas)
    if (!replica.isUp) {
      this.#count('reached a fail point')
      await replica.start()
    } else if (dice < 0.5) this.#create(replica)
    else if (dice < 0.8) this.#kill(replica)
    else {
      const signal = dice < 0.93 ? 'SIGKILL' : 'SIGTERM'
      this.#count(signal)
      await replica.end(signal)
      await replica.start(this.#random.happens(0.7) ? this.#random.pick(failPoints) : undefined)
    }
  }

  #create({ sandboxes }: ReplicaProcess): void {
    const timeoutMs = BigInt(this.#random.happens(0.4) ? 1000 + Math.floor(this.#random.next() * 5000) : 300_000)
    const imageId = this.#random.happens(0.7) ? carrying.id : plain.id
    this.#call('create', async () => {
      const { id } = await sandboxes.createSandbox({ imageId, timeoutMs }, userContext('demo'))
      this.#ids.push(id)
    })
  }

  /** Mostly one that starts or runs, also where the call that made it never had its answer. */
  #kill({ sandboxes }: ReplicaProcess): void {
    const [dice, ofActive] = [this.#random.next(), this.#random.happens(0.8)]
    const known = this.#ids.at(-1 - Math.floor(dice * Math.min(this.#ids.length, 6)))
    this.#call('kill', async () => {
      const text = 'SELECT id FROM sandboxes WHERE status <= 2 ORDER BY created_at, id'
      const { rows } = await this.#sql.query<{ id: string }>(text)
      const id = (ofActive ? rows[Math.floor(dice * rows.length)]?.id : undefined) ?? known
      if (id !== undefined) await sandboxes.killSandbox({ id }, userContext('demo'))
    })
  }

  /** Not waited for: replicas crash meanwhile. */
  #call(what: string, work: () => Promise<void>): void {
    const call = work().then(
      () => this.#count(what),
      // A crash of the replica ends its calls.
      (error: unknown) => this.#count(`${what} failed: ${asFailure(error).code}`),
    )
    this.#calls.add(call)
    void call.finally(() => this.#calls.delete(call))
  }

  /** All replicas are up and will not crash, and no call is open. */
  async #settle(): Promise<void> {
    await Promise.all(this.#calls)
    for (const replica of this.#replicas) {
      await replica.end('SIGKILL')
      await replica.start()
    }
  }

  /** Each sandbox that is said to run has one pod, and no other sandbox has any. */
  async #isAsRowsSay(): Promise<void> {
    const isSo = async () => {
      const { rows } = await this.#sql.query<{ id: string }>('SELECT id FROM sandboxes WHERE status <= 2')
      const pods = await this.#podsOf('process-automation/sandbox')
      const ids = pods.map(({ metadata }) => metadata?.labels?.['process-automation/sandbox'] ?? '')
      return ids.length === rows.length && rows.every(({ id }) => ids.includes(id))
    }
    await until(isSo, { timeoutMs: settledMs, everyMs: 500, what: 'pods that are as rows say' })
  }

  async #killAll(): Promise<void> {
    const { rows } = await this.#sql.query<{ id: string }>('SELECT id FROM sandboxes WHERE status <= 2')
    this.#done['ran at the end'] = rows.length
    const [{ sandboxes }] = this.#replicas as [ReplicaProcess]
    await Promise.all(rows.map(({ id }) => sandboxes.killSandbox({ id }, userContext('demo'))))
  }

  async #nothingIsLeft(): Promise<void> {
    const { api, namespace } = this.#options.cluster
    const look = async () => {
      const { rows } = await this.#sql.query('SELECT id FROM sandboxes WHERE status <= 2 OR daemon_address IS NOT NULL')
      const sandboxes = await this.#podsOf('process-automation/sandbox')
      const pods = await this.#podsOf()
      const secrets = await api.core.listNamespacedSecret({ namespace })
      return [rows.length, sandboxes.length, pods.length - warm, secrets.items.length]
    }
    const isClean = async () => (await look()).every((count) => count === 0)
    await until(isClean, { timeoutMs: settledMs, everyMs: 500 }).catch(async (cause: unknown) => {
      const [rows, sandboxes, others, secrets] = await look()
      const left = `${rows} rows, ${sandboxes} pods of sandboxes, ${others} others too many, ${secrets} secrets`
      throw new Error(`Left over: ${left}`, { cause })
    })
  }

  async #podsOf(labelSelector?: string) {
    const { api, namespace } = this.#options.cluster
    const more = labelSelector === undefined ? {} : { labelSelector }
    return (await api.core.listNamespacedPod({ namespace, ...more })).items
  }

  async #endings(): Promise<CampaignReport> {
    const text = `SELECT concat_ws(': ', 'status ' || status, reason) AS what, count(*)::integer FROM sandboxes GROUP BY 1`
    const { rows } = await this.#sql.query<{ what: string; count: number }>(text)
    return Object.fromEntries(rows.map(({ what, count }) => [what, count]))
  }

  #count(what: string): void {
    this.#done[what] = (this.#done[what] ?? 0) + 1
  }
}
