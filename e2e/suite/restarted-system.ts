import { afterAll, beforeAll } from 'vitest'
import type { Client } from '../client/client.ts'
import type { Process } from '../client/records.ts'
import { removeTraces, startSystem, systemFolder, systemSettings } from '../system/system.ts'
import type { Shape, System } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { clientOf } from './client-of.ts'
import { makeProcess } from './runs.ts'

/** More than any stop takes that does not wait. */
export const GRACE_MS = 60_000

/** A system of its own for the tests of a block, which they stop and start again on the same data. */
export interface RestartedSystem {
  /** As it was started last. */
  readonly system: System
  readonly dataDir: string
  /** On the same ports as before: what it calls itself stays the same. */
  start(env?: Record<string, string>): Promise<System>
  /** A client of its first team, whose answers are held against the system's own document. */
  running(): Client
  /** A process that takes so long. */
  sleeper(ms: number): Promise<Process>
  /** Waits until a run of this process is on. */
  awaitRunningOf(processId: string): Promise<void>
}

/** Starts it before the tests of the block, and removes it behind them. */
export function restartedSystem(team: string, shape?: Shape): RestartedSystem {
  let dataDir = ''
  let system: System | undefined
  let client: Client | undefined
  let same: Record<string, string> | undefined
  const current = () => {
    if (!system) throw new Error('no system runs')
    return system
  }
  const start = async (env: Record<string, string> = {}) => {
    same ??= await systemSettings(dataDir, team)
    system = await startSystem({ shape, team, dataDir, env: { SHUTDOWN_GRACE_MS: `${GRACE_MS}`, ...same, ...env } })
    return system
  }
  const running = () => client!

  beforeAll(async () => {
    dataDir = await systemFolder(`automation-e2e-${team}-`)
    client = await clientOf(await start())
  })
  afterAll(async () => {
    await system?.stop()
    await removeTraces(dataDir)
  })

  return {
    get system() {
      return current()
    },
    get dataDir() {
      return dataDir
    },
    start,
    running,
    sleeper: (ms) =>
      makeProcess({ sourceCode: `await new Promise((done) => setTimeout(done, ${ms})); return 1` }, running()),
    awaitRunningOf: async (processId) => {
      const runs = async () => {
        const { body } = await running().get<{ total: number }>('/executions', { processId, status: 'RUNNING' })
        return body.total > 0
      }
      await waitUntil('a run that is on', runs, { timeoutMs: 60_000 })
    },
  }
}
