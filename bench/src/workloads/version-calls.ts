import { Connection } from '../load/connection.ts'
import { requestBytes } from '../load/request.ts'
import type { Ours, Process } from '../sides/ours.ts'
import { untilTrue } from '../sides/program.ts'
import { median } from '../statistics.ts'

/** Calls of processes whose versions change; each is checked for its version. What it answers are medians in ms. */
export class VersionCalls {
  readonly #ours: Ours
  readonly #processes: Process[]
  readonly #neighbour: Process
  readonly #source: (version: number) => string
  #version = 0

  /**
   * `source` gives `{ n: version }`, and ends its own process when the parameter `crash` is true; `neighbour` is another
   * process.
   */
  constructor(ours: Ours, processes: Process[], neighbour: Process, source: (version: number) => string) {
    this.#ours = ours
    this.#processes = processes
    this.#neighbour = neighbour
    this.#source = source
  }

  /** First calls of new versions, one after the other, each with spare children at hand. */
  async newVersions(count: number): Promise<number> {
    const process = this.#processes[0]!
    return await this.#timesOf(count, async (connection) => {
      const version = await this.#renew(process)
      await this.#ready(connection)
      return await this.#timed(connection, process, version)
    })
  }

  /** Calls of a version that is warm, with the same pauses: what a first call is to be compared with. */
  async warm(count: number): Promise<number> {
    const process = this.#processes[0]!
    const version = await this.#renew(process)
    return await this.#timesOf(count, async (connection) => {
      await this.#timed(connection, process, version)
      await this.#ready(connection)
      return await this.#timed(connection, process, version)
    })
  }

  /** Calls right after one that ended its own process, spare children at hand. */
  async crashes(count: number): Promise<number> {
    const process = this.#processes[0]!
    const version = await this.#renew(process)
    return await this.#timesOf(count, async (connection) => {
      await this.#timed(connection, process, version)
      await this.#ready(connection)
      const { status } = await connection.send(requestBytes({ url: process.webhook, body: '{"crash":true}' }))
      if (status < 400) throw new Error(`a run that kills its own process was answered with ${status}`)
      return await this.#timed(connection, process, version)
    })
  }

  /** First calls of new versions of all processes at once: more than there are spare children. */
  async bursts(count: number): Promise<number> {
    const connections = await Promise.all(this.#processes.map(({ webhook }) => connected(webhook)))
    const tookMs: number[] = []
    for (let burst = 0; burst < count; burst += 1) {
      await this.#ready(connections[0]!)
      const versions = await Promise.all(this.#processes.map((process) => this.#renew(process)))
      const calls = this.#processes.map((process, at) => this.#timed(connections[at]!, process, versions[at]!))
      tookMs.push(...(await Promise.all(calls)))
    }
    for (const connection of connections) connection.close()
    return median(tookMs)
  }

  async #timesOf(count: number, one: (connection: Connection) => Promise<number>): Promise<number> {
    const connection = await connected(this.#ours.url)
    const tookMs: number[] = []
    for (let index = 0; index < count; index += 1) tookMs.push(await one(connection))
    connection.close()
    return median(tookMs)
  }

  async #renew({ id }: Process): Promise<number> {
    const version = (this.#version += 1)
    await this.#ours.call('PATCH', `/processes/${id}`, { sourceCode: this.#source(version) })
    return version
  }

  async #timed(connection: Connection, { webhook }: Process, version: number): Promise<number> {
    const request = requestBytes({ url: webhook, body: '{}' })
    const sentAt = performance.now()
    const { status, body } = await connection.send(request)
    const tookMs = performance.now() - sentAt
    if (status !== 200 || body !== `{"n":${version}}`) throw new Error(`version ${version} answered ${status} ${body}`)
    return tookMs
  }

  /** The pool is full, and the system is in use: after a pause alone, even a warm call takes some ms more. */
  async #ready(connection: Connection): Promise<void> {
    await this.#sparesAtHand()
    const request = requestBytes({ url: this.#neighbour.webhook, body: '{}' })
    for (let call = 0; call < 5; call += 1) await connection.send(request)
  }

  /** No child is starting and there are spare ones, at two looks in a row: the pool is as full as it wants to be. */
  async #sparesAtHand(): Promise<void> {
    let looks = 0
    await untilTrue(
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 100))
        const metrics = await (await fetch(`${this.#ours.healthUrl}/metrics`)).text()
        const children = (state: string) => metricSum(metrics, 'runner_children', `state="${state}"`)
        looks = children('starting') === 0 && children('spare') > 0 ? looks + 1 : 0
        return looks === 2
      },
      () => new Error('there are no spare children at hand'),
    )
  }
}

function connected(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url)
  return Connection.open(hostname, Number(port))
}

/** The sum over all series of a metric, in Prometheus's text format, that have the label, if one is given. */
export function metricSum(text: string, name: string, label = ''): number {
  const isOfIt = (line: string) => line.startsWith(`${name}{`) || line.startsWith(`${name} `)
  const lines = text.split('\n').filter((line) => isOfIt(line) && line.includes(label))
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}
