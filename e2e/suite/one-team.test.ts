import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import type { Execution } from '../client/records.ts'
import { removeTraces, runAdmin, startSystem, type System } from '../system/system.ts'
import { clientOf } from './client-of.ts'
import { awaitEnd, awaitStatus, execute, makeProcess } from './runs.ts'
import { shared } from './shared-system.ts'

const isQueued = ({ status }: Execution) => status === 'QUEUED'

/** As on a machine without slirp4netns and passt. */
describe.skipIf(!shared.owned)('where runs have no network of their own', { concurrent: false }, () => {
  let system: System
  let first: Client
  let second: Client
  beforeAll(async () => {
    const env = { ISOLATION_NETWORK: 'host', ISOLATION_MANY_TEAMS: 'false' }
    system = await startSystem({ team: 'first', env })
    const admin = async (...args: string[]) => (await runAdmin(args, system.env)).stdout.trim()
    await admin('teams', 'create', 'second')
    const apiToken = await admin('tokens', 'create', 'second', '--name', 'second')
    first = await clientOf(system)
    second = await clientOf({ ...system, team: 'second', apiToken })
  })
  afterAll(async () => {
    await system?.kill()
    if (system) await removeTraces(system.dataDir)
  })

  test('the team of the first run is served, runs of others wait and are told why', async () => {
    const sourceCode = 'return 1'
    const served = await execute(await makeProcess({ sourceCode }, first), {}, first)
    expect((await awaitEnd(served, undefined, first)).status).toBe('FINISHED')
    const waits = await execute(await makeProcess({ sourceCode }, second), {}, second)
    const { timeline } = await awaitStatus(waits, isQueued, undefined, second)
    expect(timeline.events.at(-1)?.explanation).toMatch(
      /serve one team each.*as runs have no network of their own: .*ISOLATION_MANY_TEAMS=true/,
    )
    const again = await execute(await makeProcess({ sourceCode }, first), {}, first)
    expect((await awaitEnd(again, undefined, first)).status).toBe('FINISHED')
    await awaitStatus(waits, isQueued, undefined, second)
    const { stdout } = await runAdmin(['teams', 'create', 'third'], system.env)
    expect(stdout).toMatch(/third is made.\nIts runs will wait: .*\(first\), as .*ISOLATION_MANY_TEAMS=true/)
    expect(stdout).toContain('tokens create third')
  })

  test('an address that signs in is that of the console that runs, whatever the environment of the command says', async () => {
    const { CONSOLE_URL, CONSOLE_PORT: _, ...others } = system.env
    const { stdout } = await runAdmin(['console', 'link'], others)
    expect(stdout.startsWith(`${CONSOLE_URL}/sign-in#code=`), stdout).toBe(true)
  })
})
