import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { serviceEnvironment } from '@automation/testing/service-environment'
import { serviceReady, startService } from './service-process.ts'
import { removeTraces, startSystem, systemFolder, systemSettings, type System } from './system.ts'

/** A replica of execution beside the one that its supervisor keeps. */
export interface ExtraReplica {
  address: string
  process: ChildProcess
}

/** A system in the shape of services whose replicas of execution come and go; its other services find them by a name. */
export interface ElasticSystem {
  system: System
  /** Starts one more replica; resolves when it is ready and the name leads to it. */
  add(): Promise<ExtraReplica>
  /** Tells a replica to stop, as the name stops leading to it; resolves with its exit code. */
  end(replica: ExtraReplica): Promise<number | null>
  stop(): Promise<void>
}

const host = 'execution.e2e'

/** Starts it with one replica of execution. Each further one listens on an address of loopback of its own. */
export async function startElasticSystem(team: string, env: Record<string, string> = {}): Promise<ElasticSystem> {
  const dataDir = await systemFolder('automation-e2e-elastic-')
  const names = `${dataDir}.addresses`
  const addresses = ['127.0.0.1']
  const tellNames = () => {
    writeFileSync(`${names}.new`, addresses.join('\n'))
    renameSync(`${names}.new`, names)
  }
  tellNames()
  const settings = await systemSettings(dataDir, team)
  const [, port] = /\bexecution=(\d+)/.exec(settings['SERVICE_PORTS']!)!
  const [, healthPort] = /\bexecutionHealth=(\d+)/.exec(settings['SERVICE_PORTS']!)!
  const own = {
    SERVICE_ADDRESSES: `execution=${host}:${port}`,
    NODE_OPTIONS: `--import ${join(import.meta.dirname, 'named-hosts.ts')}`,
    AUTOMATION_E2E_HOST: host,
    AUTOMATION_E2E_ADDRESSES: names,
  }
  const system = await startSystem({ shape: 'services', team, dataDir, env: { ...settings, ...own, ...env } })
  const extras = new Set<ExtraReplica>()
  let last = 1

  async function add(): Promise<ExtraReplica> {
    const address = `127.0.0.${(last += 1)}`
    const env = { ...(await serviceEnvironment(dataDir, 'execution')), INTERNAL_HOST: address }
    const child = startService('execution', { env, log: `${dataDir}.log` })
    const replica = { address, process: child }
    extras.add(replica)
    await serviceReady(`the replica at ${address}`, `${address}:${healthPort}`)
    addresses.push(address)
    tellNames()
    return replica
  }

  async function end(replica: ExtraReplica): Promise<number | null> {
    extras.delete(replica)
    replica.process.kill('SIGTERM')
    const at = addresses.indexOf(replica.address)
    if (at >= 0) addresses.splice(at, 1)
    tellNames()
    if (replica.process.exitCode === null && replica.process.signalCode === null) await once(replica.process, 'exit')
    return replica.process.exitCode
  }

  return {
    system,
    add,
    end,
    stop: async () => {
      await Promise.all([...extras].map(end))
      await system.stop()
      if (process.env['E2E_KEEP']) return
      await removeTraces(dataDir)
      await rm(names, { force: true })
    },
  }
}
