import { freePorts } from '@automation/testing/free-ports'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import { openRegistry, type PackageRegistry } from '../system/package-registry.ts'
import { hasOwnNetworks, startOutsideRunner, type OutsideRunner } from '../system/outside-runner.ts'
import { processesMarked, treeOf } from '../system/process-table.ts'
import { runAdmin, startSystem, type System } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { clientOf } from './client-of.ts'
import { awaitEnd, awaitStatus, execute, executionOf, logsOf, makeProcess } from './runs.ts'
import { shared } from './shared-system.ts'

interface Runner {
  id: string
  pool: string
  team?: string
  labels: Record<string, string>
  poolTokenId?: string
  state: string
}

interface Limits {
  agentPools: { slug: string; slots: number; freeSlots: number }[]
}

const pool = 'plant'
const inPool = { settings: { agentPoolSlug: pool } }
/** Larger than those of the service. */
const boundless = { LOG_MAX_LINES: '1000000', LOG_MAX_BYTES: '100000000' }
const patience = { timeoutMs: 60_000, everyMs: 200 }

describe.skipIf(!shared.owned || !hasOwnNetworks)(
  'a runner of another network, which nothing can reach',
  {
    concurrent: false,
    timeout: 120_000,
  },
  () => {
    let system: System
    let by: Client
    let other: Client
    let port: number
    let runner: OutsideRunner
    let token: { id: string; token: string }
    /** The runner does not reach it. */
    let registry: PackageRegistry
    const admin = (...args: string[]) => runAdmin(args, system.env)
    const json = async <T>(...args: string[]) => {
      const { code, stdout, stderr } = await admin('--json', ...args)
      expect(code, stderr).toBe(0)
      return JSON.parse(stdout) as T
    }
    const found = async () =>
      (await json<Runner[]>('runners', 'list')).find((each) => each.pool === pool && !each.state.startsWith('silent'))
    const isThere = () => waitUntil('the runner to be there', found, patience)
    const join = (settings: Record<string, string> = {}) =>
      startOutsideRunner(port, { RUNNER_TOKEN: token.token, RUNNER_LABELS: 'site=plant-7,line=2', ...settings })
    const begun = (id: string) => awaitStatus(id, ({ status }) => status === 'RUNNING', 30_000, by)

    beforeAll(async () => {
      port = (await freePorts(1))[0]!
      registry = await openRegistry({ npm: { answer: 'module.exports = 42' }, pypi: { question: 'answer = 43' } })
      system = await startSystem({ env: { ...registry.settings, RUNNERS_PORT: `${port}`, RUNNER_LEASE_MS: '6000' } })
      by = await clientOf(system)
      await admin('teams', 'create', 'other')
      other = await clientOf({
        ...system,
        team: 'other',
        apiToken: (await admin('tokens', 'create', 'other')).stdout.trim(),
      })
      await json('pools', 'create', pool, '--team', system.team, '--label', 'site=plant-7')
      token = await json('pools', 'token', 'create', pool, '--days', '1')
      runner = await join()
      await isThere()
    }, 240_000)
    afterAll(async () => {
      await runner?.stop()
      await system?.stop()
      await registry?.close()
    }, 60_000)

    test('is listed with its labels, and its pool is seen and used by its team alone', async () => {
      expect(await found()).toMatchObject({
        team: system.team,
        labels: { site: 'plant-7', line: '2' },
        poolTokenId: token.id,
      })
      const poolsOf = async (client: Client) =>
        (await client.get<Limits>('/limits')).body.agentPools.map(({ slug }) => slug)
      expect(await poolsOf(by)).toEqual(['default', pool])
      expect(await poolsOf(other)).toEqual(['default'])
      const process = await makeProcess({ sourceCode: 'return 1' }, other)
      const refused = await other.post(`/processes/${process.id}/execute`, inPool)
      expect(refused.status).toBe(400)
      expect(refused.text).toContain('there are default')
    })

    test('runs JavaScript and Python with their logs, results, values, objects and runs of their own', async () => {
      const inner = await makeProcess({ sourceCode: 'return svc.context.parameters.n * 2' }, by)
      const javascript = await makeProcess(
        {
          sourceCode: `console.log('in JavaScript')
await svc.datastore.set('outside', 20)
await svc.storage.upload('outside.txt', 'from outside')
return (await svc.processes.runSync('${inner.id}', { parameters: { n: await svc.datastore.get('outside') } })) + 2`,
        },
        by,
      )
      const python = await makeProcess(
        {
          programmingLanguage: 'PYTHON',
          sourceCode: "print('in Python')\nreturn sum(svc.context.parameters['numbers'])",
        },
        by,
      )
      const first = await execute(javascript, inPool, by)
      const second = await execute(python, { ...inPool, parameters: { numbers: [20, 22] } }, by)
      for (const [id, words] of [
        [first, 'in JavaScript'],
        [second, 'in Python'],
      ] as const) {
        expect(await awaitEnd(id, 60_000, by)).toMatchObject({ status: 'FINISHED', returnValue: '42' })
        expect((await logsOf(id, by)).map(({ message }) => message)).toContain(words)
      }
    })

    test('fetches modules and installed packages of its runs', async () => {
      for (const [language, name] of [
        ['JAVASCRIPT', 'answer'],
        ['PYTHON', 'question'],
      ] as const) {
        await by.call('PUT', `/dependencies/${language}`, { json: { dependencies: { [name]: '*' } } })
        await by.post(`/dependencies/${language}/install`)
        const isInstalled = async () =>
          !('nextInstallation' in (await by.get<object>(`/dependencies/${language}`)).body)
        await waitUntil(`the installation for ${language}`, isInstalled, patience)
      }
      const module = { name: 'doubled', programmingLanguage: 'JAVASCRIPT', sourceCode: 'module.exports = (n) => n * 2' }
      expect((await by.post('/modules', module)).status).toBe(201)
      const javascript = { sourceCode: "return require('doubled')(require('answer'))" }
      const python = { programmingLanguage: 'PYTHON', sourceCode: 'import question\nreturn question.answer' }
      for (const [fields, returnValue] of [
        [javascript, '84'],
        [python, '43'],
      ] as const) {
        const id = await execute(await makeProcess(fields, by), inPool, by)
        expect(await awaitEnd(id, 60_000, by)).toMatchObject({ status: 'FINISHED', returnValue })
      }
    })

    test('ends a run that is killed', async () => {
      const process = await makeProcess(
        { sourceCode: "console.log('on'); await new Promise(() => setInterval(() => 0, 1000))" },
        by,
      )
      const id = await execute(process, inPool, by)
      await waitUntil('its log', async () => (await logsOf(id, by)).length > 0, patience)
      expect((await by.put(`/executions/${id}/kill`)).status).toBeLessThan(300)
      expect(await awaitEnd(id, 30_000, by)).toMatchObject({ status: 'KILLED' })
    })

    test('loses its runs as any other where its connection is cut, and is there again once it has one', async () => {
      const process = await makeProcess({ sourceCode: 'await new Promise(() => setInterval(() => 0, 1000))' }, by)
      const id = await execute(process, inPool, by)
      await begun(id)
      runner.cut()
      const { status, timeline } = await awaitEnd(id, 45_000, by)
      expect(status).toBe('ERROR')
      expect(timeline.events.at(-1)?.explanation).toContain('runner lost')
      runner.mend()
      await isThere()
      const quick = await makeProcess({ sourceCode: 'return 1' }, by)
      expect(await awaitEnd(await execute(quick, inPool, by), 60_000, by)).toMatchObject({ status: 'FINISHED' })
    })

    test('is drained as any other: what runs is over, what comes waits for the next runner, and it ends in order', async () => {
      const process = await makeProcess(
        {
          sourceCode:
            "console.log('on')\nwhile ((await svc.datastore.get('goes on')) !== true) await new Promise((go) => setTimeout(go, 100))\nreturn 'over'",
        },
        by,
      )
      const last = await execute(process, inPool, by)
      await waitUntil('its log', async () => (await logsOf(last, by)).length > 0, patience)
      const { id } = (await found())!
      const drained = admin('runners', 'drain', id, '--wait')
      await waitUntil('the runner to hear of it', () => runner.output().includes('the runner drains'), patience)
      expect(await found()).toMatchObject({ state: 'drains: waits for runs: 1' })
      const next = await execute(process, inPool, by)
      await awaitStatus(next, ({ status }) => status === 'QUEUED', undefined, by)
      expect(await executionOf(last, by)).toMatchObject({ status: 'RUNNING' })
      const { agentPools } = (await by.get<Limits>('/limits')).body
      expect(agentPools.find(({ slug }) => slug === pool)).toMatchObject({ slots: 1, freeSlots: 0 })

      const release = await makeProcess({ sourceCode: "await svc.datastore.set('goes on', true)" }, by)
      await execute(release, {}, by)
      expect(await awaitEnd(last, undefined, by)).toMatchObject({ status: 'FINISHED', returnValue: '"over"' })
      expect(await drained).toMatchObject({ code: 0, stdout: expect.stringContaining('has ended') })
      expect(await runner.ended).toBe(0)
      expect(runner.output()).toContain('the runner is drained: all its runs are over, and it ends')
      expect(await found()).toBeUndefined()
      expect(await executionOf(next, by)).toMatchObject({ status: 'QUEUED' })

      await runner.stop()
      runner = await join(boundless)
      expect(await awaitEnd(next, 60_000, by)).toMatchObject({ status: 'FINISHED' })
    })

    test('writes no longer logs than the service allows, whatever bounds it has of its own', async () => {
      const sourceCode = 'for (let line = 0; line < 40_000; line += 1) console.log(line)\nreturn 1'
      const id = await execute(await makeProcess({ sourceCode }, by), inPool, by)
      expect(await awaitEnd(id, 60_000, by)).toMatchObject({ status: 'FINISHED' })
      const log = await logsOf(id, by)
      expect(log.at(-1)).toMatchObject({ level: 'WARNING', message: expect.stringContaining('(10000 lines, ') })
      expect(log.length).toBeGreaterThan(10_000)
      expect(log.length).toBeLessThan(22_000)
      expect(log.slice(0, -1).every(({ message }, at) => message === `${at}`)).toBe(true)
    })

    test('is out within seconds once its token is revoked, and its token is in no log and no list of processes', async () => {
      const process = await makeProcess({ sourceCode: 'await new Promise(() => setInterval(() => 0, 1000))' }, by)
      const id = await execute(process, inPool, by)
      await begun(id)
      const commands = [...processesMarked(system.env['AUTOMATION_E2E']!), ...treeOf(runner.pid)].map(
        ({ command }) => command,
      )
      expect(commands.some((command) => command.includes('apps/runner/src/main.ts'))).toBe(true)
      await json('pools', 'token', 'revoke', token.id)
      const { status, timeline } = await awaitEnd(id, 10_000, by)
      expect(status).toBe('ERROR')
      expect(timeline.events.at(-1)?.explanation).toBe('runner lost: its pool token is not valid any more')
      expect(await found()).toBeUndefined()
      await waitUntil('the runner to say so', () => runner.output().includes('The pool token is not valid'), patience)
      for (const text of [...commands, runner.output(), await system.output()]) expect(text).not.toContain(token.token)
      const records = await json<{ tokens: { id: string; revokedAt?: string; lastUsedAt?: string }[] }[]>(
        'pools',
        'list',
      )
      expect(records[0]?.tokens[0]).toMatchObject({
        id: token.id,
        revokedAt: expect.any(String),
        lastUsedAt: expect.any(String),
      })
      expect(await admin('pools', 'delete', pool)).toMatchObject({ code: 0 })
    })
  },
)
