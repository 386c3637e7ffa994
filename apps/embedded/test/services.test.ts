import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RunnerDemandService } from '@automation/contract/runner/v1/demand'
import { asService, ownContext } from '@automation/rpc'
import { WireNetwork } from '@automation/rpc/wire'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { testDatabase, traceReceiver, until, type TestDatabase, type TraceReceiver } from '@automation/testing'
import { hasPgBouncer, startPgBouncer, type PgBouncer } from '@automation/testing/pgbouncer'
import { testDrain } from './drained-runner.ts'
import { testPooled } from './pooled.ts'
import {
  admin,
  adminInImage,
  ownEnvironment,
  pasted,
  servicesMain,
  startProgram,
  type RunningProgram,
  type Values,
  metricsAt,
  metricsInDocs,
} from './started.ts'
import { testTraces } from './traces.ts'

let receiver: TraceReceiver
let values: Values
let system: RunningProgram
let remove: () => Promise<void>
let database: TestDatabase | undefined
let pooler: PgBouncer | undefined

beforeAll(async () => {
  receiver = await traceReceiver()
  const own = await ownEnvironment()
  values = { ...own.values, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, EGRESS_ALLOW: '127.0.0.0/8' }
  remove = own.remove
  if (hasPgBouncer) {
    database = await testDatabase()
    pooler = await startPgBouncer(database.url, 20)
    values['DATABASE_URL'] = pooler.url
  }
  system = startProgram(servicesMain, values)
  await system.said('hi?name=world')
})

afterAll(async () => {
  system.child.kill('SIGKILL')
  await system.ended
  await pooler?.stop()
  await database?.drop()
  await receiver.close()
  await remove()
})

test('the services together serve what the banner promises', async () => {
  const commands = system.output.stdout.split('\n').filter((line) => /^(host=|curl )/.test(line))
  const { stdout } = await pasted(commands.join('\necho\n'))
  expect(stdout.trim().split('\n').at(-1)).toBe('Hi world')
})

test('docs/reference/metrics.md has a line for every metric that they tell, and for no other', async () => {
  const { services } = await servicesFile()
  const names = new Set((await Promise.all(Object.values(services).map(({ health }) => metricsAt(health)))).flat())
  // On a cluster alone.
  const documented = (await metricsInDocs()).filter((name) => !name.startsWith('runner_pods'))
  expect([...names].toSorted()).toEqual([...new Set(documented)].toSorted())
})

test('the admin command finds them by their data folder', async () => {
  expect(await admin(values, 'teams', 'create', 'acme')).toMatchObject({ code: 0 })
  expect((await admin(values, 'tokens', 'create', 'acme')).stdout).toMatch(/^sk-\S+\n$/)
  expect(await admin(values, 'rotate-encryption-key')).toMatchObject({ code: 0 })
})

test('the admin command in an image finds them by addresses and key, as a pod has them, and says how it is called there', async () => {
  const ports = values['SERVICE_PORTS']!.split(',').filter((pair) => !/Health=/.test(pair))
  const pod = {
    PATH: values['PATH'] ?? '',
    SERVICE_ADDRESSES: ports.map((pair) => pair.replace('=', '=127.0.0.1:')).join(),
    INTERNAL_KEY_FILE: join(values['DATA_DIR']!, 'internal-key'),
    CONSOLE_URL: 'https://console.example.com',
  }
  expect((await adminInImage(pod, 'teams', 'create', 'in-image')).stdout).toContain(': admin tokens create in-image\n')
  expect((await adminInImage(pod, 'teams', 'list')).stdout).toContain('in-image')
  expect((await adminInImage(pod, 'console', 'link')).stdout).toMatch(/^https:\/\/console\.example\.com\/sign-in#code=/)
  const [runner] = JSON.parse((await adminInImage(pod, 'runners', 'list', '--json')).stdout) as { slots: number }[]
  expect(runner!.slots).toBeGreaterThan(0)
  expect(await adminInImage({ ...pod, SERVICE_ADDRESSES: '' }, 'teams', 'list')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('must name the process-catalog'),
  })
})

test('the admin command shows runners that were made and have not come, as the sandbox service has told, and why', async () => {
  const [, port] = /(?:^|,)execution=(\d+)/.exec(values['SERVICE_PORTS']!)!
  const internalKey = (await readFile(join(values['DATA_DIR']!, 'internal-key'), 'utf8')).trim()
  const addresses = { runner: [`127.0.0.1:${port}`] }
  const network = new WireNetwork({ addresses, key: { internalKey }, maxMessageBytes: 2 ** 20 })
  onTestFinished(() => network.close())
  const starting = [
    { runnerName: 'a-runner-0.uid', madeAt: timestampFromMs(0), why: 'Unschedulable: 0/1 nodes are available' },
  ]
  const capacity = { runners: 1, mostRunners: 2, whyNone: '3 in a row did not start: no image', starting }
  await network
    .client(RunnerDemandService)
    .getDemand({ pool: 'default', capacity }, ownContext(asService('sandbox'), 5000))
  const { stdout } = await admin(values, 'runners', 'list')
  const rows = stdout.split('\n').filter((line) => line.includes(' starting: '))
  expect(rows[0]).toMatch(
    /^- +a-runner-0\.uid .* 1970-01-01T00:00:00\.000Z .* starting: Unschedulable: 0\/1 nodes are available$/,
  )
  expect(rows[1]).toMatch(/^- +- .* default .* starting: 3 in a row did not start: no image$/)
  const records = JSON.parse((await admin(values, 'runners', 'list', '--json')).stdout) as { state: string }[]
  expect(records.filter(({ state }) => state === 'starting')).toMatchObject([
    { name: 'a-runner-0.uid', pool: 'default', why: 'Unschedulable: 0/1 nodes are available', free: 0 },
    { pool: 'default', why: '3 in a row did not start: no image' },
  ])
})

describe.skipIf(!hasPgBouncer)('through PgBouncer in transaction mode, 20 connections in all', () => {
  testPooled(() => values)
})

describe('traces', () => {
  testTraces(() => ({ values, receiver }))
})

describe('runners', () => {
  testDrain(() => values)
})

test('a service that dies is started again', async () => {
  const before = await servicesFile()
  const { pid = 0, starts = 0 } = before.services['runner'] ?? {}
  process.kill(pid, 'SIGKILL')
  await until(async () => (await servicesFile()).services['runner']?.starts === starts + 1)
  await until(
    async () => (await fetch(`${before.services['runner']?.health}/readyz`).catch(() => undefined))?.ok === true,
  )
})

test('when the supervisor is killed its services end', async () => {
  const { services } = await servicesFile()
  system.child.kill('SIGKILL')
  await until(() => Object.values(services).every(({ pid }) => !isAlive(pid)))
})

interface ServicesFile {
  services: Record<string, { pid: number; starts: number; health: string }>
}

async function servicesFile(): Promise<ServicesFile> {
  return JSON.parse(await readFile(join(values['DATA_DIR'] ?? '', 'services.json'), 'utf8')) as ServicesFile
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}
