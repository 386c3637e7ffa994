import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { freePorts } from '@automation/testing/free-ports'
import { serviceEnvironment } from '@automation/testing/service-environment'
import { Client } from 'pg'
import { serviceReady, startService } from './service-process.ts'
import { removeTraces, startSystem, systemFolder, systemSettings, type System } from './system.ts'

/** A system in the shape of services with a second cell: an execution and a runner of its own, on a database of its own. */
export interface CellSystem {
  system: System
  /** Lets `read` ask the database of a cell. */
  withRows<T>(cell: 'first' | 'blue', read: (client: Client) => Promise<T>): Promise<T>
  stop(): Promise<void>
}

/** Starts it; the second cell is called `blue`. */
export async function startCellSystem(team: string, more: Record<string, string> = {}): Promise<CellSystem> {
  const dataDir = await systemFolder('automation-e2e-cells-')
  const [port, executionHealth, runnerHealth] = await freePorts(3)
  const settings = await systemSettings(dataDir, team)
  const given = { ...settings, ...more, SERVICE_ADDRESSES: `execution@blue=127.0.0.1:${port}` }
  const system = await startSystem({ shape: 'services', team, dataDir, env: given })
  const children: ChildProcess[] = []
  const log = `${dataDir}.log`
  const start = async (service: string, env: Record<string, string>, health: number | undefined) => {
    children.push(startService(service, { env, log }))
    await serviceReady(`the ${service} of blue`, `127.0.0.1:${health}`)
  }

  const own = await serviceEnvironment(dataDir, 'execution')
  const firstUrl = own['DATABASE_URL']!
  const blueUrl = new URL(firstUrl)
  blueUrl.pathname = '/blue'
  await asking(firstUrl, (client) => client.query('CREATE DATABASE blue'))
  const ports = own['SERVICE_PORTS']!.replace(/\bexecution=\d+/, `execution=${port}`)
  const ofBlue = {
    ...{ CELL: 'blue', DATABASE_URL: blueUrl.href, SERVICE_PORTS: ports, SERVICE_ADDRESSES: '' },
    HEALTH_PORT: `${executionHealth}`,
  }
  const env = { ...own, ...ofBlue }
  await once(startService('execution', { args: ['--migrate'], env, log }), 'exit')
  await start('execution', env, executionHealth)
  const runner = {
    ...(await serviceEnvironment(dataDir, 'runner')),
    ...{ SERVICE_ADDRESSES: '', SERVICE_PORTS: ports, HEALTH_PORT: `${runnerHealth}` },
    RUNNER_DEPENDENCIES_DIR: `${dataDir}/packages-of-blue`,
  }
  await start('runner', runner, runnerHealth)

  return {
    system,
    withRows: (cell, read) => asking(cell === 'blue' ? blueUrl.href : firstUrl, read),
    stop: async () => {
      for (const child of children) child.kill('SIGTERM')
      for (const child of children) if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      await system.stop()
      if (!process.env['E2E_KEEP']) await removeTraces(dataDir)
    },
  }
}

async function asking<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
