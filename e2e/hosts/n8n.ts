import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { CuttingProxy } from '../clients/cutting-proxy.ts'
import { repositoryRoot } from '../system/system.ts'
import type { Checks, Scene } from './main.ts'

export const n8nPackages: readonly string[] = [
  'n8n-core@2.41.1',
  'n8n-workflow@2.41.0',
  'eslint@9.29.0',
  '@n8n/eslint-plugin-community-nodes@0.32.0',
  'eslint-plugin-n8n-nodes-base@1.16.7',
  '@typescript-eslint/parser@8.35.0',
  'typescript@5.8.3',
]

/** What n8n-host.mjs is told to do, beside what the node itself is given. */
interface Call {
  does: 'run' | 'load' | 'test'
  [more: string]: unknown
}

interface Result {
  items?: Item[]
  /** What comes out of the error output. */
  failed?: Item[]
  loaded?: Loaded
  tested?: true
  error?: { name: string; message: string; description?: string; httpCode?: string; itemIndex?: number }
  /** How often an API token was exchanged meanwhile. */
  renewals: number
}

interface Item {
  json: {
    executionId: string
    status?: string
    returnValue?: unknown
    id?: string
    message?: string
    error?: string
    who?: string
  }
  pairedItem: unknown
}

/** What the form of the node is filled with: the choices of a list, or fields. */
interface Loaded {
  results: { name: string; value: string }[]
  fields: { id: string; type: string; required: boolean }[]
}

const sources: Readonly<Record<string, object>> = {
  greeting: {
    sourceCode: `const { name, times = 1 } = svc.context.parameters
      if (name === 'nobody') throw new RangeError('nobody is here')
      for (let n = 0; n < times; n++) console.log('greeting ' + name + ' ' + n)
      return { text: 'Hello, ' + name }`,
    parametersSchema: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', title: 'Name' },
        times: { type: 'integer', default: 1 },
        tone: { enum: ['warm', 'cool'], type: 'string' },
        at: { type: 'string', format: 'date-time' },
        more: { type: 'object' },
      },
    },
  },
  slow: { sourceCode: 'await new Promise((go) => setTimeout(go, 2500)); return [1, 2]' },
  endless: { sourceCode: 'await new Promise((go) => setTimeout(go, 600_000))' },
}

/** What the node does in the engine of n8n, and what n8n's linters say of its source. */
export async function checksOfN8n(scene: Scene): Promise<{ checks: Checks; end(): Promise<void> }> {
  const { client, modules, packed } = scene
  for (const [name, fields] of Object.entries(sources)) {
    const made = await client.post('/processes', { name, slug: name, ...fields })
    assert.equal(made.status, 201, made.text)
  }
  const source = await copiedTo(join(modules, '../source'), join(repositoryRoot, 'clients/n8n'))
  await copiedTo(installed(modules), join(packed, 'n8n-nodes-process-automation'))
  const checks: Checks = {
    'the source has the types of n8n': () => checkTypes(modules, source),
    'the linters of n8n find nothing in the source and in the manifest': () => lint(modules, source),
    ...engineChecks(scene),
  }
  return { checks, end: async () => undefined }
}

function engineChecks(scene: Scene): Checks {
  const engine = (...calls: Call[]) => inEngine(scene, calls)
  const list = (slug: string) => ({ __rl: true, mode: 'list', value: slug })
  const start = {
    resource: 'process',
    operation: 'runAndWait',
    specifyParameters: 'json',
    parametersJson: '{}',
    options: {},
  }
  const runs = (parameters: object, more: object = {}): Call => ({ does: 'run', parameters, ...more })
  return {
    'the credential exchanges its API token, and is refused with a wrong one or for another team': async () => {
      const [good, wrong, other] = await engine(
        { does: 'test' },
        { does: 'test', credentials: { apiToken: 'sk-d3Jvbmc6d3Jvbmc=' } },
        { does: 'test', credentials: { team: 'other' } },
      )
      assert.equal(good!.tested, true, JSON.stringify(good))
      assert.ok(wrong!.error, JSON.stringify(wrong))
      assert.ok(other!.error, JSON.stringify(other))
    },
    'a run gives its value for each item, on one access token': async () => {
      const parameters = { ...start, process: list('greeting'), parametersJson: '={{ { "name": $json.who } }}' }
      const [result] = await engine(runs(parameters, { items: [{ who: 'Ada' }, { who: 'Grace' }] }))
      const { items, renewals } = result!
      assert.deepEqual(
        items?.map(({ json, pairedItem }) => [json.status, json.returnValue, pairedItem]),
        [
          ['FINISHED', { text: 'Hello, Ada' }, { item: 0 }],
          ['FINISHED', { text: 'Hello, Grace' }, { item: 1 }],
        ],
        JSON.stringify(result),
      )
      assert.match(items[0]!.json.executionId, /^[\w-]{36}$/)
      assert.equal(renewals, 1)
    },
    'an access token that is refused is renewed once, unseen': async () => {
      const parameters = { ...start, process: list('greeting'), parametersJson: '{"name": "Ada"}' }
      const [result] = await engine(runs(parameters, { accessToken: 'e30.e30.e30' }))
      assert.deepEqual(result!.items?.[0]?.json.returnValue, { text: 'Hello, Ada' }, JSON.stringify(result))
      assert.equal(result!.renewals, 1)
    },
    'a run that lasts longer than the service waits is waited for, and started once': async () => {
      const parameters = { ...start, process: list('slow') }
      const [result] = await engine(runs(parameters))
      assert.deepEqual(result!.items?.[0]?.json.returnValue, [1, 2], JSON.stringify(result))
      const { body } = await scene.client.get<{ total: number }>('/executions', { keywords: 'slow' })
      assert.equal(body.total, 1)
    },
    'a wait outlasts an answer that is lost and refusals that pass, and starts one run': async () => {
      await using proxy = await CuttingProxy.before(scene.system.host)
      const parameters = { ...start, process: list('greeting'), parametersJson: '{"name": "Edsger"}' }
      const orders = [{ loseAnswer: true }, { status: 503, headers: { 'Retry-After': '2' } }, { status: 502 }]
      for (const order of [...orders, { status: 504 }, { status: 429, body: { code: 'too_many_calls', detail: '' } }])
        proxy.next(/execute-sync$/, order)
      const [result] = await inEngine(scene, [runs(parameters)], proxy.url)
      assert.deepEqual(result!.items?.[0]?.json.returnValue, { text: 'Hello, Edsger' }, JSON.stringify(result))
      assert.equal(proxy.count(/execute-sync$/), 6)
      const { body } = await scene.client.get<{ total: number }>('/executions', { q: 'Edsger' })
      assert.equal(body.total, 1)
    },
    'a wait ends at once for a run that the service rejects, and in its time for a service that stays away':
      async () => {
        await using proxy = await CuttingProxy.before(scene.system.host)
        proxy.next(/execute-sync$/, { status: 429, body: { code: 'execution_rejected', detail: 'The queue is full' } })
        for (let n = 0; n < 9; n += 1) proxy.next(/execute-sync$/, { status: 503 })
        const parameters = { ...start, process: list('greeting'), parametersJson: '{"name": "Ada"}' }
        const away = { ...parameters, options: { waitSeconds: 5 } }
        const [rejected, given] = await inEngine(scene, [runs(parameters), runs(away)], proxy.url)
        assert.deepEqual([rejected!.error?.message, rejected!.error?.httpCode], ['The queue is full', '429'])
        assert.equal(given!.error?.httpCode, '503', JSON.stringify(given))
        const asked = proxy.count(/execute-sync$/)
        assert.ok(asked > 2 && asked < 7, `It was asked ${asked} times`)
      },
    'a node that gives up waiting says which run goes on': async () => {
      const [result] = await engine(
        runs({ ...start, process: list('endless'), options: { waitSeconds: 1, timeoutMs: 60_000 } }),
      )
      assert.equal(result!.error?.httpCode, '408', JSON.stringify(result))
      assert.match(result!.error.description!, /execution_timeout.*execution [\w-]{36}/)
    },
    'the same idempotency key starts one run, and that of the documents one for each item': async () => {
      const process = { __rl: true, mode: 'slug', value: 'greeting' }
      const parameters = {
        ...start,
        operation: 'start',
        process,
        options: { idempotencyKey: 'once', comment: 'by key' },
      }
      const [one, two] = await engine(runs(parameters), runs(parameters))
      assert.equal(one!.items?.[0]?.json.executionId, two!.items?.[0]?.json.executionId, JSON.stringify([one, two]))
      const [idempotencyKey] = /\{\{ \$execution\.id[^`]+/.exec(
        await readFile(join(installed(scene.modules), 'README.md'), 'utf8'),
      )!
      const each = runs({ ...parameters, options: { idempotencyKey: `=${idempotencyKey}` } }, { items: [{}, {}] })
      const ids = (await engine(each, each)).map(({ items }) => items?.map(({ json }) => json.executionId))
      assert.deepEqual(ids[0], ids[1])
      assert.equal(new Set(ids[0]).size, 2, JSON.stringify(ids))
    },
    'a run that fails ends the workflow with what its code has thrown; where the node goes on, it is in the item':
      async () => {
        const parameters = { ...start, process: list('greeting'), parametersJson: '={{ { "name": $json.who } }}' }
        const items = [{ who: 'Ada' }, { who: 'nobody' }]
        const [ended, went] = await engine(
          runs(parameters, { items }),
          runs(parameters, { items, onError: 'continueRegularOutput' }),
        )
        assert.equal(ended!.error?.name, 'NodeApiError', JSON.stringify(ended))
        assert.equal(ended!.error.message, 'Execution failed: RangeError: nobody is here (line 2)')
        assert.match(ended!.error.description!, /^execution_failed; execution [\w-]{36}; request /)
        assert.equal(ended!.error.itemIndex, 1)
        assert.deepEqual(
          went!.items?.map(({ json }) => 'error' in json),
          [false, true],
          JSON.stringify(went),
        )
      },
    'with an error output, items that fail leave by it, and others by the first': async () => {
      const parameters = { ...start, process: list('greeting'), parametersJson: '={{ $json.given }}' }
      const items = [{ given: { name: 'Ada' } }, { given: { name: 'nobody' }, who: 'second' }, { given: [1] }]
      const [result] = await engine(runs(parameters, { items, onError: 'continueErrorOutput' }))
      const values = result!.items?.map(({ json }) => json.returnValue)
      assert.deepEqual(values, [{ text: 'Hello, Ada' }], JSON.stringify(result))
      const [thrown, refused] = result!.failed!
      assert.equal(thrown!.json.error, 'Execution failed: RangeError: nobody is here (line 2)')
      assert.match(thrown!.json.message!, /^execution_failed; execution [\w-]{36}; request /)
      assert.equal(thrown!.json.who, 'second')
      assert.equal(refused!.json.error, 'The parameters are no JSON object')
    },
    'what is refused is named: an unknown process, parameters that are no object': async () => {
      const [unknown, text] = await engine(
        runs({ ...start, process: list('nothing') }),
        runs({ ...start, process: list('greeting'), parametersJson: '[1]' }),
      )
      assert.equal(unknown!.error?.httpCode, '404', JSON.stringify(unknown))
      assert.match(unknown!.error.description!, /^process_not_found; request /)
      assert.equal(text!.error?.message, 'The parameters are no JSON object')
    },
    'the form lists processes by words and page, and has a field for each parameter': async () => {
      const process = list('greeting')
      const search = (...args: unknown[]): Call => ({
        does: 'load',
        kind: 'listSearch',
        method: 'searchProcesses',
        args,
      })
      const fields: Call = {
        does: 'load',
        kind: 'resourceMapping',
        method: 'readParameterFields',
        parameters: { process },
      }
      const [all, found, read] = await engine(search(), search('greet'), fields)
      assert.deepEqual(all!.loaded?.results.map(({ value }) => value).toSorted(), ['endless', 'greeting', 'slow'])
      assert.deepEqual(found!.loaded?.results, [{ name: 'greeting', value: 'greeting' }], JSON.stringify(found))
      assert.deepEqual(
        read!.loaded?.fields.map(({ id, type, required }) => [id, type, required]),
        [
          ['name', 'string', true],
          ['times', 'number', false],
          ['tone', 'options', false],
          ['at', 'dateTime', false],
          ['more', 'object', false],
        ],
        JSON.stringify(read),
      )
    },
    'parameters by fields reach the process as they are typed': async () => {
      const parameterFields = { mappingMode: 'defineBelow', value: { name: 'Ada', times: 130, tone: null }, schema: [] }
      const parameters = { ...start, process: list('greeting'), specifyParameters: 'fields', parameterFields }
      const [result] = await engine(runs(parameters))
      const executionId = result!.items?.[0]?.json.executionId
      const { body } = await scene.client.get<{ parameters: object }>(`/executions/${executionId}`)
      assert.deepEqual(body.parameters, { name: 'Ada', times: 130 })
      const logs = { resource: 'execution', operation: 'getLogs', executionId, filters: {}, returnAll: true }
      const [all, some] = await engine(runs(logs), runs({ ...logs, returnAll: false, limit: 5 }))
      assert.equal(all!.items?.length, 130, JSON.stringify(all).slice(0, 500))
      assert.equal(all!.items[129]!.json.message, 'greeting Ada 129')
      assert.equal(some!.items?.length, 5)
    },
    'parameters by fields are converted to the types of the fields, and refused where they are of none': async () => {
      const process = list('greeting')
      const read = { does: 'load', kind: 'resourceMapping', method: 'readParameterFields', parameters: { process } }
      const [form] = await engine(read as Call)
      const fieldsOf = (value: object | null, schema = form!.loaded!.fields) => ({
        ...{ ...start, process, operation: 'start', specifyParameters: 'fields' },
        parameterFields: { mappingMode: 'defineBelow', value, schema },
      })
      const texts = {
        name: 'Grace',
        times: '={{ $json.times }}',
        tone: null,
        at: '={{ $json.at }}',
        more: '{"a": [1]}',
      }
      const items = [{ times: '2', at: '2026-11-25 10:00:00Z' }]
      const [good, wrong, none] = await engine(
        runs(fieldsOf(texts), { items }),
        runs(fieldsOf({ name: 'Grace', times: '={{ "often" }}' })),
        runs({ ...fieldsOf(null, []), process: list('slow') }),
      )
      const executionId = good!.items?.[0]?.json.executionId
      assert.ok(executionId, JSON.stringify(good))
      const { body } = await scene.client.get<{ parameters: object }>(`/executions/${executionId}`)
      const typed = { name: 'Grace', times: 2, at: '2026-11-25T10:00:00.000Z', more: { a: [1] } }
      assert.deepEqual(body.parameters, typed)
      assert.match(wrong!.error!.message, /^Invalid input for 'times'/, JSON.stringify(wrong))
      assert.ok(none!.items?.[0]?.json.executionId, JSON.stringify(none))
    },
    'executions are listed page after page, read and killed': async () => {
      const started = { ...start, operation: 'start', process: list('endless') }
      const many = { ...start, operation: 'start', process: list('greeting'), parametersJson: '{"name": "many"}' }
      const [run, runsOfMany] = await engine(runs(started), runs(many, { items: Array(110).fill({}) }))
      assert.equal(runsOfMany!.items?.length, 110, JSON.stringify(runsOfMany).slice(0, 500))
      const executionId = run!.items?.[0]?.json.executionId
      const [killed, read, listed] = await engine(
        runs({ resource: 'execution', operation: 'kill', executionId }),
        runs({ resource: 'execution', operation: 'get', executionId }),
        runs({ resource: 'execution', operation: 'getAll', returnAll: true, filters: { q: 'many' } }),
      )
      assert.equal(killed!.items?.[0]?.json.id, executionId, JSON.stringify(killed))
      assert.equal(read!.items?.[0]?.json.id, executionId)
      const ids = new Set(listed!.items?.map(({ json }) => json.id))
      assert.deepEqual(ids, new Set(runsOfMany!.items.map(({ json }) => json.executionId)))
      const [values] = await engine(
        runs({
          resource: 'execution',
          operation: 'getAll',
          returnAll: false,
          limit: 1,
          filters: { q: 'Grace', status: ['FINISHED'] },
        }),
      )
      assert.deepEqual(
        values!.items?.map(({ json }) => json.returnValue),
        [{ text: 'Hello, Grace' }],
      )
    },
  }
}

/** What came of the calls in a process of n8n's engine. */
async function inEngine({ system, modules }: Scene, calls: Call[], host = system.host): Promise<Result[]> {
  const { team, apiToken } = system
  const child = spawn(process.execPath, [join(import.meta.dirname, 'n8n-host.mjs')], {
    stdio: ['pipe', 'ignore', 'inherit', 'pipe'],
    // It keeps its settings there.
    env: { PATH: process.env['PATH'], HOME: join(modules, '../home'), N8N_LOG_LEVEL: 'error' },
  })
  const given = {
    ...{ modules, package: installed(modules), calls },
    credentials: { baseUrl: `${host}/`, team, apiToken },
  }
  child.stdin!.end(JSON.stringify(given))
  const [output] = await Promise.all([text(child.stdio[3] as Readable), once(child, 'close')])
  return JSON.parse(output) as Result[]
}

/** Where the package is as n8n has it: beside its own, which it imports. */
const installed = (modules: string) => join(modules, '@process-automation/n8n-nodes-process-automation')

async function copiedTo(folder: string, from: string): Promise<string> {
  await rm(folder, { recursive: true, force: true })
  await cp(from, folder, { recursive: true })
  return folder
}

async function checkTypes(modules: string, source: string): Promise<void> {
  const compilerOptions = {
    ...{ target: 'es2023', module: 'nodenext', strict: true, noUncheckedIndexedAccess: true, noEmit: true },
    ...{ allowImportingTsExtensions: true, skipLibCheck: true, types: ['node'] },
    ...{ typeRoots: [join(repositoryRoot, 'node_modules/@types')], erasableSyntaxOnly: true },
  }
  const config = join(source, 'tsconfig.json')
  await writeFile(config, JSON.stringify({ compilerOptions, include: ['credentials', 'nodes'] }))
  await ended(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', config])
}

async function lint(modules: string, source: string): Promise<void> {
  await cp(join(import.meta.dirname, 'n8n-rules.mjs'), join(source, 'eslint.config.mjs'))
  const args = [join(modules, 'eslint/bin/eslint.js'), '--max-warnings', '0', 'credentials', 'nodes', 'package.json']
  await ended(process.execPath, args, source)
}

/** Rejects with what a program printed where it fails. */
async function ended(program: string, args: string[], cwd?: string): Promise<void> {
  await promisify(execFile)(program, args, { cwd }).catch((error: Error & { stdout?: string; stderr?: string }) => {
    throw new Error(`${error.stdout}${error.stderr}`)
  })
}
