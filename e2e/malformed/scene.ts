import type { Client } from '../client/client.ts'
import type { Page, Variable } from '../client/records.ts'
import { makeThings } from './things.ts'
import type { Things } from './things.ts'

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
  /** Path and query of a link to the object that is kept. */
  link: string
  /** Names of objects of the playground begin with it. */
  folder: string
  /** A path below {base_url}, or one of webhooks, with its names filled in, from the root of the host. */
  path(path: string, which?: 'kept' | 'playground'): string
  /** The same for a path of the OpenAPI document. */
  fill(path: string): string
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
    this.#kept = await makeThings(this.#client, 'kept')
    this.#playground = await makeThings(this.#client, 'playground')
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
      filename: kept.object,
      language: kept.language,
    }
    const ofModules: Record<string, string> = {
      ...names,
      id: kept.module,
      moduleId: kept.module,
      versionId: kept.moduleVersion,
      aliasId: kept.moduleAlias,
    }
    return {
      routes: await this.#routes(),
      token: accessToken,
      authorized: { authorization: `Bearer ${accessToken}` },
      webhook: `/api/${team}/webhooks/${kept.process.slug}`,
      playgroundWebhook: `/api/${team}/webhooks/${playground.process.slug}`,
      link: await this.#link(kept.object),
      folder: folderOf(playground.object),
      path: (path, which = 'kept') => {
        const root = path.startsWith('/webhooks/') ? '' : '/rest'
        return `/api/${team}${root}${fillFrom(which === 'kept' ? kept : playground, path)}`
      },
      fill: (path) => {
        const given = path.includes('/modules') ? ofModules : names
        const others = path.includes('/schedules/') ? kept.schedule : kept.execution
        const id = path.includes('/variables/') ? kept.variable : others
        return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => given[name] ?? id)
      },
    }
  }

  /** What is there, in words that can be compared: counts of everything, and the kept things whole. */
  async inventory(): Promise<string> {
    const { process, version, alias, execution, schedule, sandbox, module, object } = this.#built().kept
    const paths = [
      `/processes/${process.id}`,
      `/processes/${process.id}/versions/${version}`,
      `/processes/${process.id}/aliases/${alias}`,
      `/executions/${execution}`,
      `/executions/${execution}/logs`,
      `/schedules/${schedule}`,
      `/sandboxes/${sandbox}`,
      `/modules/${module}`,
      `/modules/${module}/versions`,
      `/modules/${module}/aliases`,
      `/storage/objects/${object}`,
      '/dependencies/JAVASCRIPT',
      '/team',
    ]
    const whole = await Promise.all(paths.map(async (path) => (await this.#client.get(path)).text))
    const { data } = (await this.#client.get<Page<Variable>>('/variables', { limit: 1000 })).body
    whole.push(JSON.stringify(data.filter(({ id }) => id !== this.#playground?.variable)))
    whole.push(JSON.stringify(await this.#objects((name) => !this.#isOfPlayground(name))))
    const lists = [
      '/processes',
      '/executions',
      '/variables',
      '/sandboxes',
      '/schedules',
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
    if (id && path.endsWith('/schedule')) await this.#client.delete(`/schedules/${id}`)
    if (id && path.endsWith('/rest/sandboxes')) await this.#client.post(`/sandboxes/${id}/kill`)
  }

  /** Removes the playground. Says what of it could be neither read nor removed. */
  async clear(): Promise<string[]> {
    const { process, variable, sandbox, module, language } = this.#built().playground
    await this.#client.delete(`/processes/${process.id}`)
    await this.#client.delete(`/variables/${variable}`)
    await this.#client.delete(`/modules/${module}`)
    await this.#client.post(`/sandboxes/${sandbox}/kill`)
    await this.#client.delete(`/dependencies/${language}/install`)
    const stuck: string[] = []
    for (const { name } of await this.#objects((one) => this.#isOfPlayground(one))) {
      const path = `/storage/objects/${encodeURIComponent(name)}`
      const headers = { authorization: `Bearer ${this.#client.address.accessToken}` }
      const read = await fetch(this.#client.rest + path, { headers })
      await read.arrayBuffer()
      const removed = await this.#client.delete(path)
      if (read.status !== 200 || removed.status !== 204)
        stuck.push(`the object ${JSON.stringify(name)} was kept; GET answers ${read.status}, DELETE ${removed.status}`)
    }
    return stuck
  }

  async #objects(which: (name: string) => boolean): Promise<{ name: string }[]> {
    return (await this.#client.get<{ name: string }[]>('/storage/objects')).body.filter(({ name }) => which(name))
  }

  #isOfPlayground(name: string): boolean {
    return name.startsWith(folderOf(this.#built().playground.object))
  }

  async #link(path: string): Promise<string> {
    const { team } = this.#client.address
    const json = { path, expiresInSeconds: 604_800 }
    const { body } = await this.#client.post<{ url: string }>('/storage/signed-urls', json)
    return `/api/${team}/rest/storage/signed/${path}${new URL(body.url).search}`
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

const folderOf = (object: string) => object.slice(0, object.lastIndexOf('/') + 1)
