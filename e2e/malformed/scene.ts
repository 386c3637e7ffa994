import type { Answer, Client } from '../client/client.ts'
import type { Execution, Page, Process, Sandbox, Variable } from '../client/records.ts'

/** A path of the OpenAPI document with the methods that it has. */
export interface Route {
  path: string
  methods: ReadonlySet<string>
}

/**
 * The things that the requests aim at. What is `kept` must look the same afterwards; what is made or started in the
 * `playground` is removed at the end.
 */
export interface Scene {
  routes: readonly Route[]
  token: string
  authorized: Record<string, string>
  /** Path of the webhook of a process that is kept; nothing ever runs it. */
  webhook: string
  playgroundWebhook: string
  /** A path below {base_url} with its names filled in, from the root of the host. */
  path(path: string, which?: 'kept' | 'playground'): string
  /** The same for a path of the OpenAPI document. */
  fill(path: string): string
}

interface Things {
  object: string
  language: 'JAVASCRIPT'
  process: Process
  version: string
  alias: string
  variable: string
  module: string
  moduleAlias: string
  execution: string
  sandbox: string
}

export class Stage {
  readonly #client: Client
  readonly #host: string
  #kept: Things | undefined
  #playground: Things | undefined

  constructor(client: Client) {
    this.#client = client
    this.#host = client.address.host
  }

  async build(): Promise<Scene> {
    this.#kept = await this.#things('kept')
    this.#playground = await this.#things('playground')
    const { team, accessToken } = this.#client.address
    const [kept, playground] = [this.#kept, this.#playground]
    const fillFrom = (things: Things, path: string) =>
      path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
        name === 'process' ? things.process.id : (things[name as Exclude<keyof Things, 'process'>] ?? name),
      )
    const names: Record<string, string> = {
      team,
      identifier: kept.process.id,
      slug: kept.process.slug,
      versionId: kept.version,
      aliasId: kept.alias,
      sandboxId: kept.sandbox,
      moduleId: kept.module,
      language: kept.language,
      filename: kept.object,
    }
    return {
      routes: await this.#routes(),
      token: accessToken,
      authorized: { authorization: `Bearer ${accessToken}` },
      webhook: `/api/${team}/webhooks/${kept.process.slug}`,
      playgroundWebhook: `/api/${team}/webhooks/${playground.process.slug}`,
      path: (path, which = 'kept') => `/api/${team}/rest${fillFrom(which === 'kept' ? kept : playground, path)}`,
      fill: (path) =>
        path.replaceAll(
          /\{(\w+)\}/g,
          (_, name: string) =>
            names[name] ??
            (path.includes('/variables/') ? kept.variable : path.includes('/modules/') ? kept.module : kept.execution),
        ),
    }
  }

  /** What is there, in words that can be compared: counts of everything, and the kept things whole. */
  async inventory(): Promise<string> {
    const { process, version, alias, execution, sandbox, module } = this.#built().kept
    const paths = [
      `/processes/${process.id}`,
      `/processes/${process.id}/versions/${version}`,
      `/processes/${process.id}/aliases/${alias}`,
      `/executions/${execution}`,
      `/executions/${execution}/logs`,
      `/sandboxes/${sandbox}`,
      `/modules/${module}`,
      '/storage/objects',
      '/dependencies/JAVASCRIPT',
      '/team',
    ]
    const whole = await Promise.all(paths.map(async (path) => (await this.#client.get(path)).text))
    const { data } = (await this.#client.get<Page<Variable>>('/variables', { limit: 1000 })).body
    whole.push(JSON.stringify(data.filter(({ id }) => id !== this.#playground?.variable)))
    const lists = [
      '/processes',
      '/executions',
      '/variables',
      '/sandboxes',
      '/modules',
      `/processes/${process.id}/versions`,
      `/processes/${process.id}/aliases`,
    ]
    const counts = await Promise.all(
      lists.map(async (path) => `${path} ${(await this.#client.get<Page<unknown>>(path)).body.total}`),
    )
    return [...counts, ...whole].join('\n')
  }

  /** Removes what an accepted request made, by the answer to it. */
  async undo(path: string, text: string): Promise<void> {
    const id = /"id":"([0-9a-f-]{36})"/.exec(text)?.[1]
    if (id && path.endsWith('/rest/processes')) await this.#client.delete(`/processes/${id}`)
    if (id && path.endsWith('/rest/variables')) await this.#client.delete(`/variables/${id}`)
    if (id && path.endsWith('/rest/modules')) await this.#client.delete(`/modules/${id}`)
    if (id && path.endsWith('/rest/sandboxes')) await this.#client.post(`/sandboxes/${id}/kill`)
  }

  async clear(): Promise<void> {
    const { process, variable, sandbox, module } = this.#built().playground
    await this.#client.delete(`/processes/${process.id}`)
    await this.#client.delete(`/variables/${variable}`)
    await this.#client.delete(`/modules/${module}`)
    await this.#client.post(`/sandboxes/${sandbox}/kill`)
  }

  async #things(name: string): Promise<Things> {
    const slug = `malformed-${name}-${Date.now().toString(36)}`
    const sourceCode = 'console.log("ran"); return svc.context.parameters'
    const process = made(
      await this.#client.post<Process>('/processes', { name: slug, sourceCode, webhook: { enabled: true } }),
    )
    const at = `/processes/${process.id}`
    const version = made(await this.#client.post<{ id: string }>(`${at}/versions`, { tag: 'v1' }))
    const alias = made(
      await this.#client.post<{ id: string }>(`${at}/aliases`, { name: 'live', versionId: version.id }),
    )
    const variable = made(
      await this.#client.post<{ id: string }>('/variables', { key: slug.replaceAll('-', '_'), value: 'x' }),
    )
    const module = made(await this.#client.post<{ id: string }>('/modules', { name: slug, sourceCode: '' }))
    const lifetime = { imageId: 'base', timeout: 3_600_000 }
    const sandbox = made(await this.#client.post<Sandbox>('/sandboxes', lifetime))
    const atModule = `/modules/${module.id}`
    const moduleVersion = made(await this.#client.post<{ id: string }>(`${atModule}/versions`, { tag: 'v1' }))
    const moduleAlias = made(
      await this.#client.post<{ id: string }>(`${atModule}/aliases`, { name: 'live', versionId: moduleVersion.id }),
    )
    const object = `${slug}.txt`
    const stored = await this.#client.call('POST', '/storage/objects', { query: { filename: object }, body: 'kept' })
    if (stored.status !== 204) throw new Error(`The scene cannot be built, ${stored.status}: ${stored.text}`)
    const run = await this.#client.post(`${at}/execute-sync`, {})
    const execution = run.headers.get('svc-execution-id') ?? ''
    const { status } = (await this.#client.get<Execution>(`/executions/${execution}`)).body
    if (status !== 'FINISHED') throw new Error(`The run of the scene ended as ${status}`)
    return {
      object,
      language: 'JAVASCRIPT',
      process,
      version: version.id,
      alias: alias.id,
      variable: variable.id,
      module: module.id,
      moduleAlias: moduleAlias.id,
      execution,
      sandbox: sandbox.id,
    }
  }

  async #routes(): Promise<Route[]> {
    const document = (await (await fetch(`${this.#host}/openapi.json`)).json()) as { paths: Record<string, object> }
    return Object.entries(document.paths).map(([path, item]) => ({
      path,
      methods: new Set(Object.keys(item).map((method) => method.toUpperCase())),
    }))
  }

  #built() {
    if (!this.#kept || !this.#playground) throw new Error('The scene is not built')
    return { kept: this.#kept, playground: this.#playground }
  }
}

function made<T>(answer: Answer<T>): T {
  if (answer.status !== 201) throw new Error(`The scene cannot be built, ${answer.status}: ${answer.text}`)
  return answer.body
}
