import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { freePorts } from '@automation/testing/free-ports'
import { repositoryRoot } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import type { Checks, Scene } from './main.ts'

export const nextPackages: readonly string[] = [
  'next@16.4.6',
  'react@19.3.1',
  'react-dom@19.3.1',
  '@types/node@26.6.6',
  '@types/react@19.3.0',
  'typescript@5.8.3',
  'eventsource-parser@4.1.3',
]

const patience = { timeoutMs: 20_000 }

/** The route of the guide in an application of Next.js, built and started as for production. */
export async function checksOfNext(scene: Scene): Promise<{ checks: Checks; end(): Promise<void> }> {
  const { client } = scene
  const sourceCode = `const { name } = svc.context.parameters
    if (!name) throw new TypeError('no name')
    if (name === 'nobody') await new Promise((go) => setTimeout(go, 600_000))
    return { text: 'Hello, ' + name }`
  const made = await client.post('/processes', { name: 'visits', slug: 'visits', sourceCode })
  assert.equal(made.status, 201, made.text)
  const version = await client.post<{ id: string }>('/processes/visits/versions', { tag: 'v1' })
  await client.post('/processes/visits/aliases', { name: 'live', versionId: version.body.id })
  const folder = await writeApplication(scene)
  await built(scene, folder)
  const { url, child } = await started(scene, folder)
  return { checks: routeChecks(scene, url), end: () => ended(child) }
}

function routeChecks({ client }: Scene, url: string): Checks {
  const post = (body: unknown, options: RequestInit = {}) =>
    fetch(`${url}/api/greeting`, { method: 'POST', body: JSON.stringify(body), ...options })
  return {
    'the route answers with the value of the run': async () => {
      const response = await post({ name: 'Ada' })
      assert.equal(response.status, 200)
      assert.deepEqual(await response.json(), { text: 'Hello, Ada' })
    },
    'a run that fails is named, and nothing else of it': async () => {
      const response = await post({})
      assert.equal(response.status, 502)
      assert.match(await response.text(), /^\{"execution":"[\w-]{36}"\}$/)
    },
    'what the service refuses is passed on by its code': async () => {
      const response = await post('no object')
      assert.equal(response.status, 400)
      assert.deepEqual(Object.keys((await response.json()) as object), ['code'])
    },
    'the same key starts one run': async () => {
      const headers = { 'Idempotency-Key': 'a visitor of today' }
      const answers = await Promise.all([post({ name: 'Grace' }, { headers }), post({ name: 'Grace' }, { headers })])
      assert.deepEqual(await Promise.all(answers.map((one) => one.text())), Array(2).fill('{"text":"Hello, Grace"}'))
      const { body } = await client.get<{ total: number }>('/executions', { q: 'Grace', keywords: 'visits' })
      assert.equal(body.total, 1)
    },
    'a visitor who leaves ends the run': async () => {
      const leaving = new AbortController()
      const response = post({ name: 'nobody' }, { signal: leaving.signal })
      const statusOf = async () => {
        const { body } = await client.get<{ data: { status: string }[] }>('/executions', {
          q: 'nobody',
          keywords: 'visits',
        })
        return body.data[0]?.status
      }
      await waitUntil('the run to begin', async () => (await statusOf()) === 'RUNNING', patience)
      leaving.abort()
      await assert.rejects(response)
      await waitUntil('the run to be killed', async () => (await statusOf()) === 'KILLED', patience)
    },
  }
}

/** Below the folder of Next's packages, which it finds there. */
async function writeApplication({ packed, modules }: Scene): Promise<string> {
  const folder = join(modules, '../application')
  await rm(folder, { recursive: true, force: true })
  const guide = await readFile(join(repositoryRoot, 'docs/guides/typescript-client.md'), 'utf8')
  const [, part = ''] = guide.split('\n## From a Next.js route\n')
  const [, path = '', code = ''] = /^```ts\n\/\/ (app\/\S+\.ts)\n(.*?)^```/ms.exec(part) ?? []
  await mkdir(join(folder, path, '..'), { recursive: true })
  await writeFile(join(folder, path), code.replaceAll("'greeting'", "'visits'"))
  const tsconfig = { compilerOptions: { strict: true, moduleResolution: 'bundler', module: 'esnext', jsx: 'preserve' } }
  const files = {
    'package.json': JSON.stringify({ private: true, type: 'module' }),
    'tsconfig.json': JSON.stringify(tsconfig),
    'next.config.mjs': `export default { turbopack: { root: ${JSON.stringify(join(modules, '..'))} } }\n`,
  }
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  const client = join(modules, '@process-automation/client')
  await rm(client, { recursive: true, force: true })
  await cp(join(packed, 'client'), client, { recursive: true })
  return folder
}

function nextIn({ modules, system }: Scene, folder: string, args: string[], output: 'pipe' | 'ignore'): ChildProcess {
  const { host, team, apiToken } = system
  return spawn(process.execPath, [join(modules, 'next/dist/bin/next'), ...args], {
    cwd: folder,
    stdio: ['ignore', output, output === 'pipe' ? 'pipe' : 'inherit'],
    env: {
      ...{ PATH: process.env['PATH'], HOME: join(modules, '..'), NEXT_TELEMETRY_DISABLED: '1', CI: 'true' },
      ...{ PAS_URL: host, PAS_TEAM: team, PAS_TOKEN: apiToken },
    },
  })
}

async function built(scene: Scene, folder: string): Promise<void> {
  const child = nextIn(scene, folder, ['build'], 'pipe')
  const [output, faults, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')])
  assert.equal(code, 0, `Next.js does not build the guide's route:\n${output}${faults}`)
}

async function started(scene: Scene, folder: string): Promise<{ url: string; child: ChildProcess }> {
  const [port] = await freePorts(1)
  const child = nextIn(scene, folder, ['start', '--hostname', '127.0.0.1', '--port', String(port)], 'ignore')
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  const url = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(url).then(
      () => true,
      () => undefined,
    )
  await waitUntil('Next.js to answer', answers, { timeoutMs: 60_000 })
  return { url, child }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill()
  await once(child, 'exit')
}
