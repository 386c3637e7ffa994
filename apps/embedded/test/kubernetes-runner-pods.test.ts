import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DependencyService } from '@automation/contract/catalog/v1/dependency'
import { ProcessService } from '@automation/contract/catalog/v1/process'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { Language } from '@automation/contract/common/v1/language'
import { ExecutionService, Status, type Outcome } from '@automation/contract/execution/v1/execution'
import { createExecution, readExecutionConfig } from '@automation/execution'
import { createCatalog, readCatalogConfig } from '@automation/process-catalog'
import { InProcessNetwork } from '@automation/rpc'
import { serve, type ServedPort } from '@automation/rpc/wire'
import { createSandboxes, readSandboxConfig } from '@automation/sandbox'
import { Environment, type Part } from '@automation/service'
import { createStorage, readStorageConfig } from '@automation/storage'
import {
  operatorContext,
  silentLogger,
  testContext,
  testDatabase,
  until,
  userContext,
  type TestDatabase,
} from '@automation/testing'
import { littleRegistry, npmPackage } from '@automation/testing/little-registry'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const needed = ['KUBECONFIG', 'RUNNER_PODS_TEST_IMAGE', 'CLUSTER_HOST_ADDRESS']
const missing = needed.filter((name) => !process.env[name])
const title = 'teams on runner pods of a real cluster'

interface ListedPod {
  metadata: { name: string; uid: string; labels: Record<string, string>; deletionTimestamp?: string }
  status: { phase: string }
}

describe.skipIf(missing.length > 0)(
  missing.length === 0 ? title : `${title} (not here: ${missing.join()} not set)`,
  () => {
    const namespace = `runner-pods-${randomBytes(4).toString('hex')}`
    const network = new InProcessNetwork()
    const parts: Part[] = []
    const executions = network.client(ExecutionService)
    let database: TestDatabase
    const folder = mkdtempSync(join(tmpdir(), 'runner-pods-test-'))
    let registry: Awaited<ReturnType<typeof littleRegistry>> | undefined
    let served: ServedPort | undefined
    let sandbox: Part

    beforeAll(async () => {
      kubectl('create', 'namespace', namespace)
      kubectl('label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted')
      const keys = { INTERNAL_KEY: randomBytes(24).toString('hex'), RUNNER_KEY: randomBytes(24).toString('hex') }
      database = await testDatabase()
      const host = process.env['CLUSTER_HOST_ADDRESS']!
      const common = { DATABASE_URL: database.url, ENCRYPTION_KEY: 'for these tests alone', ...keys }
      const env = new Environment({ ...common, RUNNER_LEASE_MS: '6000', DATA_DIR: folder })
      const catalog = createCatalog(readCatalogConfig(env), testContext(network))
      const execution = createExecution(readExecutionConfig(env), testContext(network))
      const storage = createStorage(readStorageConfig(env), testContext(network))
      for (const part of [catalog, execution, storage]) await run(part)
      env.check()
      const wire = { host, port: 0, internalKey: keys.INTERNAL_KEY, runnerKey: keys.RUNNER_KEY }
      served = await serve([...execution.serves, ...storage.serves], {
        ...wire,
        maxMessageBytes: 2 ** 26,
        logger: silentLogger,
      })
      const inPython = [{ path: 'question/__init__.py', text: 'answer = 43' }]
      const packages = { question: { version: '1.0.0', entries: inPython } }
      registry = await littleRegistry({ answer: npmPackage('module.exports = 42') }, packages, host)
      const KUBERNETES_PODS = join(folder, 'pods.json')
      const image = process.env['RUNNER_PODS_TEST_IMAGE']
      const members = { image, max: 2, idleMs: 4000, cpu: '50m', memory: '1Gi' }
      writeFileSync(
        KUBERNETES_PODS,
        JSON.stringify({ namespace, runners: { ...members, settings: registry.settings } }),
      )
      const poolEnv = new Environment({
        ...common,
        SERVICE_ADDRESSES: `execution=${host}:${served.port},storage=${host}:${served.port}`,
        KUBERNETES_PODS,
        RUN_TIMEOUT_MAX_MS: '60000',
      })
      sandbox = createSandboxes(readSandboxConfig(poolEnv), testContext(network))
      poolEnv.check()
      await run(sandbox)
      await until(() => pods().some(isReady), { timeoutMs: 90_000, everyMs: 250, what: 'a spare pod' })
      for (const team of ['a', 'b', 'c']) await makeTeam(team)
    }, 150_000)
    afterAll(async () => {
      for (const part of parts.toReversed()) await part.stop(0)
      await served?.close(500)
      kubectl('delete', 'namespace', namespace, '--wait=false')
      await database.drop()
      await registry?.close()
      rmSync(folder, { recursive: true })
    })

    async function run(part: Part): Promise<void> {
      network.add(part.serves)
      await part.start()
      parts.push(part)
    }

    async function makeTeam(team: string): Promise<void> {
      await network.client(TeamService).createTeam({ slug: team }, operatorContext())
      const processes = network.client(ProcessService)
      const values = { name: 'name', sourceCode: 'return process.env.POD_UID === undefined' }
      await processes.createProcess({ values }, userContext(team))
      const inPython = { name: 'python', language: Language.PYTHON, sourceCode: 'return 1 + 1' }
      await processes.createProcess({ values: inPython }, userContext(team))
    }

    const start = (team: string, identifier = 'name'): Promise<Outcome> =>
      executions.runExecution({ start: { identifier }, waitMs: 110_000 }, userContext(team, {}, 120_000))

    const pods = (): ListedPod[] =>
      (JSON.parse(kubectl('get', 'pods', '-n', namespace, '-o', 'json')) as { items: ListedPod[] }).items
    const teamsOf = () => pods().map(({ metadata }) => metadata.labels['process-automation/team'])

    test('a team takes the spare at once, in both languages; another one is served by a pod of its own', async () => {
      const began = performance.now()
      expect(await start('a')).toMatchObject({ status: Status.FINISHED, returnValue: Buffer.from('true') })
      const first = performance.now() - began
      expect(await start('a', 'python')).toMatchObject({ status: Status.FINISHED, returnValue: Buffer.from('2') })
      const second = performance.now()
      expect((await start('b')).status).toBe(Status.FINISHED)
      console.log(`from the spare ${first.toFixed(0)} ms, from a new pod ${(performance.now() - second).toFixed(0)} ms`)
      await until(() => new Set(teamsOf()).size >= 2, { what: 'the labels of both teams', everyMs: 250 })
    })

    test('three teams on at most two pods: every run ends well, while pods come and go', async () => {
      const ends: Promise<Outcome>[] = []
      const uids = new Set<string>()
      const watching = setInterval(() => pods().forEach(({ metadata }) => uids.add(metadata.uid)), 1000)
      for (let round = 0; round < 12; round++) {
        for (const team of ['a', 'b', 'c']) ends.push(start(team))
        expect(pods().length).toBeLessThanOrEqual(2)
        await Promise.race(ends.slice(-3))
      }
      const outcomes = await Promise.all(ends)
      clearInterval(watching)
      expect(outcomes.map(({ status }) => status)).toEqual(ends.map(() => Status.FINISHED))
      expect(uids.size).toBeGreaterThan(2)
      console.log(`${outcomes.length} runs on ${uids.size} pods`)
    }, 150_000)

    test.each([
      [Language.JAVASCRIPT, 'answer', "return require('answer')", '42'],
      [Language.PYTHON, 'question', 'import question\nreturn question.answer', '43'],
    ])(
      'packages are installed in a pod (%#), and found there',
      async (language, name, sourceCode, value) => {
        const dependencies = network.client(DependencyService)
        await dependencies.stageDependencies({ language, dependencies: { [name]: '*' } }, userContext('a'))
        await dependencies.installDependencies({ language }, userContext('a'))
        const installed = async () => {
          const { nextInstallation } = await dependencies.getManifest({ language }, userContext('a'))
          expect(nextInstallation?.error).toBeUndefined()
          return nextInstallation === undefined
        }
        await until(installed, { timeoutMs: 100_000, everyMs: 250, what: 'the installation' })
        await network.client(ProcessService).createProcess({ values: { name, language, sourceCode } }, userContext('a'))
        expect(await start('a', name)).toMatchObject({ returnValue: Buffer.from(value) })
      },
      130_000,
    )

    test('they are there for a new pod, while the registry is not', async () => {
      await registry!.close()
      const before = new Set(pods().map(({ metadata }) => metadata.uid))
      kubectl('delete', 'pods', '--all', '--grace-period=1', '-n', namespace)
      expect(pods().filter(({ metadata }) => before.has(metadata.uid))).toEqual([])
      expect(await start('a', 'answer')).toMatchObject({ returnValue: Buffer.from('42') })
      expect(await start('a', 'question')).toMatchObject({ returnValue: Buffer.from('43') })
    }, 130_000)

    test('pods that are a team’s go when they are idle, and a spare is left', async () => {
      const allGone = () => pods().every(({ metadata }) => metadata.labels['process-automation/team'] === undefined)
      await until(allGone, { timeoutMs: 60_000, everyMs: 500, what: 'no pod of a team' })
      await until(() => pods().some(isReady), { timeoutMs: 60_000, everyMs: 500, what: 'a spare pod' })
      expect((await sandbox.ready()).find(({ name }) => name === 'runner pods')?.detail).toMatch(
        /of 2, 0 serve a team$/,
      )
    }, 130_000)
  },
)

function isReady({ status, metadata }: ListedPod): boolean {
  return status.phase === 'Running' && metadata.deletionTimestamp === undefined
}

function kubectl(...args: string[]): string {
  return execFileSync('kubectl', args, { encoding: 'utf8' })
}
