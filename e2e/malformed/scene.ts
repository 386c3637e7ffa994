import type { Answer, Client } from '../client/client.ts'
import type { Execution, Page, Process } from '../client/records.ts'

/** The things that the requests aim at: a process that runs, objects that may be made, and one that stays as it is. */
export class Scene {
  readonly #client: Client
  readonly #process: Process
  /** The object that is kept. */
  readonly object: string
  /** Path and query of a link to it. */
  readonly link: string
  /** The id of an upload in parts that has none. */
  readonly upload: string
  /** Names of objects that may be made begin with it. */
  readonly folder: string
  readonly authorized: Record<string, string>

  private constructor(
    client: Client,
    made: { process: Process; object: string; link: string; upload: string; folder: string },
  ) {
    this.#client = client
    this.#process = made.process
    this.object = made.object
    this.link = made.link
    this.upload = made.upload
    this.folder = made.folder
    this.authorized = { authorization: `Bearer ${client.address.accessToken}` }
  }

  /** Throws where something can't be made. */
  static async build(client: Client): Promise<Scene> {
    const name = `malformed-${Date.now().toString(36)}`
    const source = { sourceCode: 'return svc.context.parameters', webhook: { enabled: true } }
    const { body: process } = made(await client.post<Process>('/processes', { name, ...source }))
    const run = made(await client.post(`/processes/${process.id}/execute-sync`, {}))
    const { body } = await client.get<Execution>(`/executions/${run.headers.get('svc-execution-id')}`)
    if (body.status !== 'FINISHED') throw new Error(`The run of the scene ended as ${body.status}`)
    const object = `${name}/file`
    made(await client.call('POST', '/storage/objects', { query: { filename: object }, body: 'what is kept' }))
    const json = { path: object, expiresInSeconds: 604_800 }
    const { url } = made(await client.post<{ url: string }>('/storage/signed-urls', json)).body
    const link = `/api/${client.address.team}/rest/storage/signed/${object}${new URL(url).search}`
    const { id: upload } = made(await client.post<{ id: string }>('/storage/uploads', { name: object })).body
    return new Scene(client, { process, object, link, upload, folder: `${name}-playground/` })
  }

  /** A path below {base_url} from the root of the host. */
  path(path: string): string {
    return `/api/${this.#client.address.team}/rest${path.replace('{process}', this.#process.id)}`
  }

  webhook(slug = this.#process.slug): string {
    return `/api/${this.#client.address.team}/webhooks/${slug}`
  }

  /** What must look the same afterwards, in words that can be compared. */
  async inventory(): Promise<string> {
    const paths = [`/processes/${this.#process.id}`, `/storage/objects/${this.object}`, '/team']
    const whole = await Promise.all(paths.map(async (path) => (await this.#client.get(path)).text))
    const { body: uploads } = await this.#client.get<{ id: string; receivedBytes: number }[]>('/storage/uploads')
    const opened = uploads.map(({ id, receivedBytes }) => `${id} ${receivedBytes}`)
    const counted = ['/processes', '/variables']
    const counts = await Promise.all(
      counted.map(async (path) => `${path} ${(await this.#client.get<Page<unknown>>(path)).body.total}`),
    )
    const objects = (await this.#objects()).filter(({ name }) => !name.startsWith(this.folder))
    return [...counts, ...whole, ...opened, JSON.stringify(objects)].join('\n')
  }

  /** Removes what was made. Says which objects could be neither read nor removed. */
  async clear(): Promise<string[]> {
    const stuck: string[] = []
    for (const { name } of await this.#objects()) {
      if (!name.startsWith(this.folder)) continue
      const path = `/storage/objects/${encodeURIComponent(name)}`
      const read = await fetch(this.#client.rest + path, { headers: this.authorized })
      await read.arrayBuffer()
      const removed = await this.#client.delete(path)
      if (read.status !== 200 || removed.status !== 204)
        stuck.push(`the object ${JSON.stringify(name)} was kept; GET answers ${read.status}, DELETE ${removed.status}`)
    }
    await this.#client.delete(`/storage/objects/${encodeURIComponent(this.object)}`)
    await this.#client.delete(`/storage/uploads/${this.upload}`)
    await this.#client.delete(`/processes/${this.#process.id}`)
    return stuck
  }

  async #objects(): Promise<{ name: string }[]> {
    return (await this.#client.get<{ name: string }[]>('/storage/objects')).body
  }
}

function made<T>(answer: Answer<T>): Answer<T> {
  if (answer.status >= 300) throw new Error(`The scene cannot be built, ${answer.status}: ${answer.text}`)
  return answer
}
