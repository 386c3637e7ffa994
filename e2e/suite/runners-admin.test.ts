import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import { runAdmin, startSystem, type System } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { clientOf } from './client-of.ts'
import { awaitEnd, awaitStatus, execute, executionOf, makeProcess } from './runs.ts'
import { shared } from './shared-system.ts'

interface Runner {
  id: string
  version: string
  pool: string
  languages: string[]
  slots: number
  running: number
  free: number
  replicas: string[]
  draining: boolean
  state: string
}

/** The services as processes of their own, so that a runner can end by itself. */
describe.skipIf(!shared.owned)('runners as an operator sees them', { concurrent: false, timeout: 120_000 }, () => {
  let system: System
  let by: Client
  /** Answers runs when the test says so. */
  let gate: Server
  const held: ServerResponse[] = []
  const admin = (...args: string[]) => runAdmin(args, system.env)
  const list = async () => JSON.parse((await admin('--json', 'runners', 'list')).stdout) as Runner[]

  beforeAll(async () => {
    gate = createServer((_, response) => void held.push(response)).listen(0, '127.0.0.1')
    await once(gate, 'listening')
    system = await startSystem({ shape: 'services' })
    by = await clientOf(system)
  }, 180_000)
  afterAll(async () => {
    gate.closeAllConnections()
    gate.close()
    await system?.stop()
  })

  test('are listed with what they serve; one that drains ends with its runs, and what comes meanwhile runs in another', async () => {
    const { port } = gate.address() as AddressInfo
    const sourceCode = `if (svc.context.parameters.waits) await fetch('http://127.0.0.1:${port}')\nreturn 1`
    const process = await makeProcess({ sourceCode }, by)
    const last = await execute(process, { parameters: { waits: true } }, by)
    await waitUntil('the run to begin', () => held.length === 1, { timeoutMs: 30_000 })
    const patience = { timeoutMs: 30_000, everyMs: 200 }
    const toldReplicas = async () => (await list()).find(({ replicas }) => replicas.length === 1)
    const runner = await waitUntil('the runner to say its replicas', toldReplicas, patience)
    expect(runner).toMatchObject({
      pool: 'default',
      draining: false,
      running: 1,
      free: runner.slots - 1,
      state: 'runs',
    })
    expect(runner.languages).toContain('JAVASCRIPT')
    expect(runner.version).toMatch(/^\d+\.\d+/)

    expect((await admin('runners', 'drain', crypto.randomUUID())).stderr).toContain('Runner not found')
    const drained = admin('runners', 'drain', runner.id, '--wait')
    await waitUntil('the runner to drain', async () => (await list())[0]?.state.startsWith('drains'), patience)
    const next = await execute(process, {}, by)
    await awaitStatus(next, ({ status }) => status === 'QUEUED', undefined, by)
    expect((await executionOf(last, by)).status).toBe('RUNNING')
    held[0]!.end()
    expect((await awaitEnd(last, undefined, by)).status).toBe('FINISHED')
    expect(await drained).toMatchObject({ code: 0, stdout: expect.stringContaining('has ended') })
    expect((await awaitEnd(next, 60_000, by)).status).toBe('FINISHED')
    expect((await list()).map(({ id }) => id)).not.toContain(runner.id)
  })
})
