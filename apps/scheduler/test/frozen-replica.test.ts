import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { ScheduleService } from '@automation/contract/schedule/v1/schedule'
import { serve, WireNetwork, type ServedPort } from '@automation/rpc/wire'
import { freePorts, silentLogger, testDatabase, until, userContext, type TestDatabase } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { schedulerSchema } from '../src/service.ts'
import { ScriptedExecutions } from './scripted-executions.ts'

const internalKey = 'an internal key of these tests that is long enough'
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const executions = new ScriptedExecutions()
const replicas: ChildProcess[] = []
const ended: Promise<unknown>[] = []
let database: TestDatabase
let execution: ServedPort
let network: WireNetwork

beforeAll(async () => {
  database = await testDatabase(schedulerSchema)
  const limits = { internalKey, maxMessageBytes: 2 ** 22 }
  execution = await serve([executions.service], { ...limits, host: '127.0.0.1', port: 0, logger: silentLogger })
  const ports = await freePorts(6)
  await Promise.all(Array.from({ length: 3 }, (_, index) => startReplica(ports[index] ?? 0, ports[index + 3] ?? 0)))
  const addresses = { schedule: ports.slice(0, 3).map((port) => `127.0.0.1:${port}`) }
  network = new WireNetwork({ ...limits, key: { internalKey }, addresses })
})

afterAll(async () => {
  network.close()
  for (const replica of replicas) replica.kill('SIGKILL')
  await Promise.all(ended)
  await execution.close(0)
  await database.drop()
})

async function startReplica(grpc: number, health: number): Promise<void> {
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    DATABASE_URL: database.url,
    INTERNAL_KEY: internalKey,
    SERVICE_PORTS: `execution=${execution.port},scheduler=${grpc}`,
    HEALTH_PORT: String(health),
    LOG_LEVEL: 'warn',
  }
  const replica = spawn(process.execPath, [main], { env, stdio: ['ignore', 'inherit', 'inherit'] })
  replicas.push(replica)
  ended.push(once(replica, 'exit'))
  await until(async () => (await fetch(`http://127.0.0.1:${health}/readyz`).catch(() => undefined))?.ok === true)
}

test(
  'of three replicas one stands still at a time, and one is killed: each second starts one run',
  { timeout: 60_000 },
  async () => {
    executions.process('tick')
    const ids: string[] = []
    for (let count = 0; count < 20; count += 1) {
      const request = { process: 'tick', cron: '* * * * * *', allowConcurrentExecutions: true }
      ids.push((await network.client(ScheduleService).createSchedule(request, userContext('demo'))).id)
    }
    const secondsOf = (id: string) => executions.of(id).map(({ request }) => Number(request.nominalTimeMs) / 1000)
    const furthest = () => Math.min(...ids.map((id) => Math.max(0, ...secondsOf(id))))
    const passed = (seconds: number) => {
      const from = furthest()
      return until(() => furthest() >= from + seconds)
    }
    await until(() => furthest() > 0)
    for (const replica of replicas) {
      replica.kill('SIGSTOP')
      await passed(2)
      replica.kill('SIGCONT')
    }
    await passed(1)
    replicas[0]!.kill('SIGKILL')
    await passed(2)
    for (const id of ids) {
      const seconds = secondsOf(id).toSorted((a, b) => a - b)
      expect(seconds).toEqual(seconds.map((_, index) => seconds[0]! + index))
    }
    expect(new Set(executions.runs.map(({ request }) => `${request.scheduleId} ${request.nominalTimeMs}`)).size).toBe(
      executions.runs.length,
    )
  },
)
