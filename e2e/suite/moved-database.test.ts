import { mkdtemp, chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FaultProxy } from '@automation/testing/fault-proxy'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Random } from '@automation/testing/random'
import { Client, accessTokenOf } from '../client/client.ts'
import type { Execution } from '../client/records.ts'
import { Book } from '../chaos/book.ts'
import { awaitRest, examine } from '../chaos/examination.ts'
import { faultsOfFollowUps, handlerCode, handlerSlug, openReceiver } from '../chaos/follow-ups.ts'
import { openLedger } from '../chaos/ledger.ts'
import { Load } from '../chaos/load.ts'
import { faultsOfRemovals } from '../chaos/removals.ts'
import { faultsAt } from '../chaos/rows.ts'
import { followMove as follow, postgresPrograms, PostgresServer, serverFolder } from '../system/postgres-server.ts'
import { shapeFromEnvironment, startSystem, type System } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { shared } from './shared-system.ts'

const callers = 4
const configuration = ['wal_level = logical', 'max_connections = 300', 'shared_buffers = 64MB', 'fsync = off']

const isHere = shared.owned && shapeFromEnvironment() === 'services' && postgresPrograms !== undefined

describe.skipIf(!isHere)('a database that moves under load', { concurrent: false, timeout: 120_000 }, () => {
  const startedAt = Date.now()
  const book = new Book()
  const servers: PostgresServer[] = []
  let folder = ''
  let address: FaultProxy
  let system: System
  let client: Client
  let ledger: Awaited<ReturnType<typeof openLedger>>
  let receiver: Awaited<ReturnType<typeof openReceiver>>
  let worker = ''
  /** The server that the address leads to. */
  let current: PostgresServer

  const at = (name: string) => join(folder, name)
  const keep = async (made: Promise<PostgresServer>) => {
    const server = await made
    servers.push(server)
    return server
  }
  const turnTo = (server: PostgresServer) => {
    current = server
    address.turnTo(server.url)
  }

  beforeAll(async () => {
    folder = await serverFolder(await mkdtemp(join(tmpdir(), 'automation-e2e-move-')))
    await chmod(folder, 0o755)
    ;[ledger, receiver] = await Promise.all([openLedger(), openReceiver()])
    current = await keep(PostgresServer.make(await serverFolder(at('first')), configuration))
    address = await FaultProxy.start(current.url)
    system = await startSystem({
      shape: 'services',
      team: 'move',
      env: {
        DATABASE_URL: address.url,
        RUNNER_SLOTS: '6',
        TEAM_MAX_RUNNING: '8',
        SYNC_WAIT_MAX_MS: '6000',
        CALLBACK_RETRY_PAUSE_MS: '200',
        ISOLATION_NETWORK: 'host',
      },
    })
    const { host, team, apiToken } = system
    client = new Client({ host, team, accessToken: await accessTokenOf(host, team, apiToken) })
    worker = await loadFor(book).prepare()
    const handler = await client.post('/processes', { name: handlerSlug, slug: handlerSlug, sourceCode: handlerCode })
    expect(handler.status, handler.text).toBe(201)
    const named = await client.patch('/team', { errorHandlerConfig: { processSlug: handlerSlug, tag: null } })
    expect(named.status, named.text).toBe(200)
  })

  afterAll(async () => {
    await system?.stop()
    for (const server of servers) await server.stop('crash')
    await Promise.all([address?.close(), ledger?.close(), receiver?.close()])
    await rm(folder, { recursive: true, force: true })
  })

  test('a standby that is promoted has all that was answered', async () => {
    const env = { SOURCE_URL: current.url, STANDBY_DATA: at('standby') }
    await follow('make-standby', env)
    const standby = await keep(PostgresServer.start(at('standby'), true))
    await follow('wait-for-standby', env)
    const load = started()
    await answered(10)
    await current.stop('crash')
    await follow('promote-standby', { TARGET_URL: standby.url })
    turnTo(standby)
    await answered(10)
    await load.stop()
    await expectNothingLost()
  })

  test('logical replication to another server that is switched to loses nothing, and events go on', async () => {
    const target = await keep(PostgresServer.make(await serverFolder(at('other')), configuration))
    const env = { SOURCE_URL: current.url, TARGET_URL: target.url }
    const load = started()
    await follow('subscribe', env)
    await follow('await-copy', env)
    await answered(10)
    await follow('switch-over', env)
    turnTo(target)
    await answered(10)
    await load.stop()
    await expectNothingLost()
  })

  test('a restore to a point has all that was answered before it, does what was still to be done, and lacks the rest', async () => {
    const env = { ARCHIVE: await serverFolder(at('archive')), BASE_BACKUP: at('base'), TARGET_DATA: at('restored') }
    const before = current
    await follow('archive', { ...env, SOURCE_URL: before.url })
    // The settings want a restart: services go through one.
    await before.stop()
    const restarted = await keep(PostgresServer.start(at('other')))
    turnTo(restarted)
    await follow('base-backup', { ...env, SOURCE_URL: restarted.url })
    receiver.refuses = true
    const load = started()
    await answered(15)
    await load.stop()
    await awaitRest(client, startedAt, 30_000)
    const [{ point }] = (await restarted.query<{ point: string }>('SELECT clock_timestamp()::text AS point')) as [
      { point: string },
    ]
    const ranBefore = new Set(ledger.entries.keys())
    const after = new Book()
    const later = started(after)
    await answered(10, after)
    await later.stop()
    await restarted.query('SELECT pg_switch_wal()')
    await restarted.stop()
    await follow('restore-to-point', { ...env, POINT: point })
    turnTo(await keep(PostgresServer.start(at('restored'))))
    receiver.refuses = false
    const lost = new Set([...ledger.entries.keys()].filter((id) => !ranBefore.has(id)))
    await expectNothingLost(lost)
    const answers = await Promise.all([...after.promised.keys()].map((id) => client.get(`/executions/${id}`)))
    expect(answers.filter(({ status }) => status !== 404)).toEqual([])
    const fresh = started()
    await answered(5)
    await fresh.stop()
    await expectNothingLost(lost)
  })

  function loadFor(notes: Book): Load {
    return new Load({ client, ledgerUrl: ledger.url, book: notes, random: new Random(24), callbackUrl: receiver.url })
  }

  function started(notes = book): Load {
    const load = loadFor(notes)
    load.goOnWith(worker)
    load.start(callers)
    return load
  }

  /** Waits until so many more runs are promised. */
  async function answered(count: number, notes = book): Promise<void> {
    const enough = notes.promised.size + count
    await waitUntil(`${count} more runs`, () => notes.promised.size >= enough, { timeoutMs: 30_000 })
  }

  /**
   * Of the book's runs: what was promised holds, and all that follows from an end has followed. `lost`: ids of runs whose
   * code ran beside them.
   */
  async function expectNothingLost(lost: ReadonlySet<string> = new Set()): Promise<void> {
    await waitUntil('answers', async () => (await client.get('/team').catch(() => undefined))?.status === 200, {
      timeoutMs: 20_000,
    })
    let listed = new Map<string, Execution>()
    const followed = async () => {
      listed = await awaitRest(client, startedAt, 30_000)
      return (await faultsOfFollowUps({ client, book, receiver }, listed)).length === 0
    }
    // A callback whose claim was cut off by the switch is tried again once that claim's lease is over, after half a minute.
    await waitUntil('what follows from ends', followed, { timeoutMs: 60_000, everyMs: 250 }).catch(() => undefined)
    const faults = await faultsOfFollowUps({ client, book, receiver }, listed)
    const entries = new Map([...ledger.entries].filter(([id]) => !lost.has(id)))
    faults.push(...(await examine({ client, ledger: { ...ledger, entries }, book }, listed, startedAt)))
    faults.push(...(await faultsOfRemovals(client, book.removals)))
    faults.push(...(await current.with((connection) => faultsAt(connection, startedAt))))
    faults.push(...book.contradictions.map((description) => ({ rule: 'answers agree', id: '', description })))
    expect(faults).toEqual([])
  }
})
