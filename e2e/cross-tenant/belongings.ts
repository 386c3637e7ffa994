import type { Client } from '../client/client.ts'
import { Workshop } from './things.ts'
import type { Things } from './things.ts'

/** What an input can name: a thing, or one of its names alone. */
export type Kind =
  | Exclude<keyof Things, 'link' | 'formFile'>
  | 'team'
  | 'apiToken'
  | 'processId'
  | 'slug'
  | 'webhook'
  | 'label'
  | 'versionId'
  | 'versionTag'
  | 'aliasName'
  | 'pointer'
  | 'moduleName'
  | 'variableKey'
  | 'comment'
  | 'nameOrComment'
  | 'scheduledNameOrComment'
  | 'sandboxName'
  | 'objectName'
  | 'signature'
  | 'entity'

/**
 * Things of a team and the words by which they can be named. All that only the team may read (sources, values,
 * contents, logs) holds the `secret`.
 */
export class Belongings {
  readonly client: Client
  readonly secret: string
  readonly #apiToken: string
  readonly #workshop: Workshop

  constructor(client: Client, apiToken: string) {
    this.client = client
    this.#apiToken = apiToken
    this.#workshop = new Workshop(client)
    this.secret = this.#workshop.secret
  }

  /** By kind, all the words by which the thing can be named, the usual one first. */
  readonly names: Readonly<Record<Kind, () => Promise<readonly string[]>>> = {
    team: async () => [this.client.address.team],
    apiToken: async () => [this.#apiToken],
    language: () => this.#of('language', (languages) => languages),
    install: async () => {
      await this.#workshop.installed()
      return this.#of('install', (id) => [id])
    },
    process: () => this.#of('process', ({ id, slug }) => [id, slug]),
    processId: () => this.#of('process', ({ id }) => [id]),
    slug: () => this.#of('process', ({ slug }) => [slug]),
    webhook: () => this.#of('process', ({ slug, id }) => [slug, id]),
    label: () => this.#of('process', ({ tags }) => tags),
    version: () => this.#of('version', ({ id, tag }) => [id, tag]),
    versionId: () => this.#of('version', ({ id }) => [id]),
    versionTag: () => this.#of('version', ({ tag }) => [tag]),
    alias: () => this.#of('alias', ({ id, name }) => [id, name]),
    aliasName: () => this.#of('alias', ({ name }) => [name]),
    pointer: async () => [...(await this.names.version()), ...(await this.names.aliasName())],
    module: () => this.#of('module', ({ id, name }) => [id, name]),
    moduleName: () => this.#of('module', ({ name }) => [name]),
    moduleVersion: () => this.#of('moduleVersion', ({ id, tag }) => [id, tag]),
    moduleAlias: () => this.#of('moduleAlias', ({ id, name }) => [id, name]),
    variable: () => this.#of('variable', ({ id, key }) => [id, key]),
    variableKey: () => this.#of('variable', ({ key }) => [key]),
    serviceAccount: () => this.#of('serviceAccount', ({ id, clientId }) => [id, clientId]),
    execution: () => this.#of('execution', ({ id }) => [id]),
    runningExecution: () => this.#of('runningExecution', ({ id }) => [id]),
    webhookExecution: () => this.#of('webhookExecution', (id) => [id]),
    comment: () => this.#of('execution', ({ comment }) => [comment ?? '']),
    nameOrComment: async () => [...(await this.names.slug()), ...(await this.names.comment())],
    schedule: () => this.#of('schedule', ({ id }) => [id]),
    pausedSchedule: () => this.#of('pausedSchedule', ({ id }) => [id]),
    scheduledNameOrComment: async () => [
      ...(await this.names.slug()),
      ...(await this.#of('schedule', ({ comment }) => [comment ?? ''])),
    ],
    event: () => this.#of('event', (id) => [id]),
    idempotencyKey: () => this.#of('idempotencyKey', (key) => [key]),
    sandbox: () => this.#of('sandbox', ({ id }) => [id]),
    sandboxFile: () => this.#of('sandboxFile', (path) => [path]),
    sandboxCommand: () => this.#of('sandboxCommand', (id) => [id]),
    sandboxName: () => this.#of('sandbox', ({ name }) => [name]),
    object: async () => [await this.#workshop.thing('object'), await this.#workshop.thing('formFile')],
    upload: () => this.#of('upload', (id) => [id]),
    objectName: () => this.#of('object', (name) => [name]),
    // Not by names that another team may give to things of its own.
    entity: async () => [...(await this.names.processId()), ...(await this.names.execution())],
    signature: async () => [await this.linkPart('X-Amz-Signature')],
  }

  /** Whether links lead to the system; else they lead to its object store. */
  async linksLeadHere(): Promise<boolean> {
    return (await this.#workshop.thing('link')).pathname.startsWith('/api/')
  }

  /** A part of the query of a link to the object. */
  async linkPart(name: string): Promise<string> {
    return (await this.#workshop.thing('link')).searchParams.get(name) ?? ''
  }

  /** Stages a set of packages, in place of what is staged. */
  stage(language: string, dependencies: Record<string, string>): Promise<void> {
    return this.#workshop.stage(language, dependencies)
  }

  /** Leaves nothing staged. */
  async unstage(language: string): Promise<void> {
    await this.stage(language, {})
    await this.client.delete(`/dependencies/${language}/install`)
  }

  /** Removes all that was made. */
  remove(): Promise<void> {
    return this.#workshop.remove()
  }

  async #of<K extends keyof Things>(
    kind: K,
    words: (thing: Things[K]) => readonly string[],
  ): Promise<readonly string[]> {
    return words(await this.#workshop.thing(kind))
  }
}
