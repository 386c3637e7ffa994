import { randomBytes } from 'node:crypto'
import type { Answer, Client } from '../client/client.ts'
import type { Alias, Execution, Module, Process, Sandbox, Schedule, Variable, Version } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'

/** What a team can have, as it was made. */
export interface Things {
  process: Process
  version: Version
  alias: Alias
  module: Module
  moduleVersion: Version
  moduleAlias: Alias
  variable: Variable
  execution: Execution
  runningExecution: Execution
  webhookExecution: string
  schedule: Schedule
  pausedSchedule: Schedule
  event: string
  idempotencyKey: string
  language: readonly string[]
  /** Of no packages, so that it is done at once. */
  install: string
  sandbox: Sandbox
  sandboxFile: string
  sandboxCommand: string
  object: string
  formFile: string
  link: URL
  /** With a part. */
  upload: string
  serviceAccount: { id: string; clientId: string }
}

/** Longer than all that is tried, and no longer than a run may take where pods are to be stopped soon. */
const longMs = 290_000

/** A word that nothing else has. */
export const newWord = (prefix: string) => `${prefix}-${randomBytes(6).toString('hex')}`

/** Makes things of a team, one of each kind, when they are first asked for. */
export class Workshop {
  readonly client: Client
  /** Stands in all that only the team may read: sources, values, contents, logs. */
  readonly secret = newWord('secret')
  readonly #made = new Map<string, Promise<unknown>>()
  readonly #undo: (() => Promise<unknown>)[] = []

  constructor(client: Client) {
    this.client = client
  }

  thing<K extends keyof Things>(kind: K): Promise<Things[K]> {
    const known = this.#made.get(kind) as Promise<Things[K]> | undefined
    const thing = known ?? this.#makers[kind]()
    this.#made.set(kind, thing)
    return thing
  }

  /** Stages a set of packages, in place of what is staged. */
  async stage(language: string, dependencies: Record<string, string>): Promise<void> {
    const path = `/dependencies/${language}`
    const staged = async () => (await this.client.call('PUT', path, { json: { dependencies } })).status === 200
    await waitUntil(`PUT ${path}`, staged, { timeoutMs: 60_000, everyMs: 100 }) // an installation may be on
    this.#undo.push(() => this.client.delete(`${path}/install`))
  }

  /** Waits until nothing is being installed: meanwhile nobody goes back to an earlier install. */
  async installed(): Promise<void> {
    const path = '/dependencies/JAVASCRIPT'
    const isDone = async () => !(await this.client.get(path)).text.includes('"INSTALLING"')
    await waitUntil(`the installation of ${path}`, isDone, { timeoutMs: 60_000, everyMs: 50 })
  }

  /** Removes all that was made. */
  async remove(): Promise<void> {
    for (const undo of this.#undo.toReversed()) await undo()
  }

  readonly #makers: { [K in keyof Things]: () => Promise<Things[K]> } = {
    process: async () => {
      const word = newWord('plan')
      const reached = { webhook: { enabled: true }, settings: { formsConfig: { enabled: true } } }
      const fields = { name: word, tags: [newWord('label')], ...reached, description: this.secret }
      const made = await this.#post<Process>('/processes', { ...fields, sourceCode: this.#source() })
      this.#undo.push(() => this.client.delete(`/processes/${made.id}`))
      return made
    },
    version: async () => this.#post<Version>(await this.#below('process', 'versions'), { tag: newWord('version') }),
    alias: async () => {
      const { id } = await this.thing('version')
      return this.#post<Alias>(await this.#below('process', 'aliases'), { name: newWord('alias'), versionId: id })
    },
    module: async () => {
      const fields = { name: newWord('module'), sourceCode: `exports.secret = '${this.secret}'` }
      const made = await this.#post<Module>('/modules', fields)
      this.#undo.push(() => this.client.delete(`/modules/${made.id}`))
      return made
    },
    moduleVersion: async () =>
      this.#post<Version>(await this.#below('module', 'versions'), { tag: newWord('version') }),
    moduleAlias: async () => {
      const { id } = await this.thing('moduleVersion')
      return this.#post<Alias>(await this.#below('module', 'aliases'), { name: newWord('alias'), versionId: id })
    },
    variable: async () => {
      const key = newWord('variable').replace('-', '_')
      const made = await this.#post<Variable>('/variables', { key, value: this.secret })
      this.#undo.push(() => this.client.delete(`/variables/${made.id}`))
      return made
    },
    serviceAccount: async () => {
      const made = await this.#post<Things['serviceAccount']>('/auth/service-accounts', { name: newWord('account') })
      this.#undo.push(() => this.client.delete(`/auth/service-accounts/${made.id}`))
      return made
    },
    execution: async () => this.#run({}, 'FINISHED'),
    runningExecution: async () => {
      const made = await this.#run({ waits: true }, 'RUNNING', { timeout: longMs })
      this.#undo.push(() => this.client.put(`/executions/${made.id}/kill`))
      return made
    },
    webhookExecution: async () => {
      const { slug } = await this.thing('process')
      const answer = await this.client.webhook('POST', slug, { body: this.secret })
      return answer.headers.get('svc-execution-id') ?? ''
    },
    schedule: () => this.#schedule(),
    pausedSchedule: async () => {
      const made = await this.#schedule()
      await this.client.put(`/schedules/${made.id}/pause`)
      return made
    },
    event: async () => {
      const { text } = await this.client.get(`/executions/${(await this.thing('execution')).id}/events`)
      return /^id: (.+)$/m.exec(text)?.[1] ?? ''
    },
    idempotencyKey: async () => {
      const key = newWord('key')
      const headers = { 'idempotency-key': key }
      const started = await this.client.post(await this.#below('process', 'execute'), {}, { headers })
      if (started.status !== 202) throw new Error(`${started.status} ${started.text}`)
      return key
    },
    language: async () => {
      const languages = ['JAVASCRIPT', 'PYTHON']
      for (const language of languages) await this.stage(language, {})
      return languages
    },
    install: async () => {
      await this.stage('JAVASCRIPT', {})
      await this.client.post('/dependencies/JAVASCRIPT/install')
      let id: string | undefined
      const isKnown = async () => {
        const { body } = await this.client.get<{ data: { id: string; status: string }[] }>(
          '/dependencies/JAVASCRIPT/installs',
        )
        id = body.data.find(({ status }) => status === 'INSTALLED')?.id
        return id !== undefined
      }
      await waitUntil('the installation', isKnown, { timeoutMs: 60_000, everyMs: 50 })
      return id ?? ''
    },
    sandbox: async () => {
      const fields = { imageId: 'base', name: newWord('sandbox'), metadata: { secret: this.secret }, timeout: longMs }
      const made = await this.#post<Sandbox>('/sandboxes', fields)
      const path = `/sandboxes/${made.id}`
      this.#undo.push(() => this.client.post(`${path}/kill`))
      const runs = async () => (await this.client.get<Sandbox>(path)).body.status === 'RUNNING'
      await waitUntil(`${path} runs`, runs, { timeoutMs: 60_000, everyMs: 50 })
      return made
    },
    sandboxFile: async () => {
      const path = `tmp/${newWord('file')}`
      const address = `/sandboxes/${(await this.thing('sandbox')).id}/files/${path}`
      made(await this.client.call('PUT', address, { body: this.secret }), address)
      return path
    },
    sandboxCommand: async () => {
      const address = `/sandboxes/${(await this.thing('sandbox')).id}/commands`
      const fields = { command: 'sh', args: ['-c', `echo ${this.secret}`], detached: true }
      return (await this.#post<{ commandId: string }>(address, fields)).commandId
    },
    object: async () => {
      const filename = `${newWord('folder')}/file`
      await this.client.call('POST', '/storage/objects', { query: { filename }, body: this.secret })
      this.#undo.push(() => this.client.delete(`/storage/objects/${filename}`))
      return filename
    },
    formFile: async () => {
      const sourceCode = 'return svc.context.parameters.file.storagePath'
      const fields = { name: newWord('form'), webhook: { enabled: true }, sourceCode }
      const { id, slug } = await this.#post<Process>('/processes', fields)
      this.#undo.push(() => this.client.delete(`/processes/${id}`))
      const form = new FormData()
      form.append('file', new Blob([this.secret]), 'file')
      return (await this.client.webhook<string>('POST', slug, { body: form })).body
    },
    upload: async () => {
      const { id } = await this.#post<{ id: string }>('/storage/uploads', { name: newWord('uploaded') })
      const path = `/storage/uploads/${id}`
      await this.client.call('PUT', `${path}/parts/1`, { body: this.secret })
      this.#undo.push(() => this.client.delete(path))
      return id
    },
    link: async () => {
      const path = await this.thing('object')
      const { body } = await this.client.post<{ url: string }>('/storage/signed-urls', { path })
      return new URL(body.url)
    },
  }

  #source(): string {
    return `console.log('${this.secret}')
      if (svc.context.parameters.waits) await new Promise((done) => setTimeout(done, ${longMs}))
      return '${this.secret}'`
  }

  async #run(parameters: object, until: Execution['status'], settings: object = {}): Promise<Execution> {
    const path = await this.#below('process', 'execute')
    const input = { parameters, settings, comment: newWord('comment') }
    const { executionId } = await this.#post<{ executionId: string }>(path, input)
    const at = `/executions/${executionId}`
    let seen: Execution | undefined
    const reached = async () => {
      seen = (await this.client.get<Execution>(at)).body
      return seen.status === until
    }
    await waitUntil(`${at} is ${until}`, reached, { timeoutMs: 30_000, everyMs: 20 })
    return seen as Execution
  }

  async #schedule(): Promise<Schedule> {
    const input = { parameters: { secret: this.secret }, comment: newWord('comment') }
    return this.#post<Schedule>(await this.#below('process', 'schedule'), { dateTime: '2100-01-01T00:00:00Z', input })
  }

  async #below(kind: 'process' | 'module', list: string): Promise<string> {
    return `/${kind === 'process' ? 'processes' : 'modules'}/${(await this.thing(kind)).id}/${list}`
  }

  async #post<T>(path: string, json: object): Promise<T> {
    return made(await this.client.post<T>(path, json), path)
  }
}

function made<T>(answer: Answer<T>, path: string): T {
  if (answer.status !== 201 && answer.status !== 202)
    throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`)
  return answer.body
}
