import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TeamEventService, type WatchTeamResponse } from '@automation/contract/execution/v1/team_event'
import { startPostgres, type RunningPostgres } from '@automation/postgres'
import { silentLogger, until, userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { System } from './system.ts'
import { value } from './scripted-runner.ts'

let dataDir: string
let server: RunningPostgres
let system: System

const started = (port?: number) =>
  startPostgres({ dataDir, port, logger: silentLogger, maxConnections: 100, durable: false })

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'automation-test-moved-'))
  server = await started()
  system = new System({ url: server.tcpUrl, drop: async () => undefined }, { teamMaxRunning: 10 })
  await system.addReplica()
  await system.runner({ runs: () => value(1) })
})
afterAll(async () => {
  await system.stop()
  await server.stop()
  await rm(dataDir, { recursive: true, force: true })
})

test('where a move has left the sequence of positions behind, events go on behind those that are there', async () => {
  await system.run()
  const before = await lastPosition()
  await system.rows("SELECT setval('timeline_positions', 1, false)")
  const [first] = system.replicas
  await first!.part.stop(0)
  system.forget(first!)
  await system.addReplica()
  await system.runner({ runs: () => value(1) })
  const { executionId } = await system.run()
  const positions = await system.rows<{ position: string }>(
    'SELECT position FROM timeline_events WHERE execution_id = $1',
    [executionId],
  )
  for (const { position } of positions) expect(Number(position)).toBeGreaterThan(before)
})

test('who follows a team comes again when another server answers, and is told what came meanwhile', async () => {
  const first = follow('')
  await first.opened
  const { executionId: seen } = await system.run()
  await until(() => first.ids.has(seen))
  // In the numbers of the follower this is another server: it has been started anew.
  await server.stop()
  server = await started(Number(new URL(server.tcpUrl).port))
  await expect(first.done).rejects.toMatchObject({ kind: 'unavailable' })
  const missed = await until(() => system.run().catch(() => undefined), { timeoutMs: 20_000 })
  const second = follow(first.position)
  const { executionId: fresh } = await system.run()
  await until(() => second.ids.has(fresh))
  expect(second.ids).toContain(missed!.executionId)
  second.leave()
})

async function lastPosition(): Promise<number> {
  const [row] = await system.rows<{ last: string }>('SELECT max(position) AS last FROM timeline_events')
  return Number(row!.last)
}

function follow(after: string) {
  const leaving = new AbortController()
  const context = { ...userContext('demo'), deadlineMs: undefined, signal: leaving.signal }
  const client = system.replicas[0]!.network.client(TeamEventService)
  const opened = Promise.withResolvers<void>()
  const ids = new Set<string>()
  const follower = { ids, position: after, opened: opened.promise, done: read(), leave: () => leaving.abort() }
  follower.done.catch(() => undefined)
  return follower

  async function read(): Promise<void> {
    for await (const message of client.watchTeam({ after, processId: '' }, context)) note(message)
  }

  function note({ event, position }: WatchTeamResponse): void {
    opened.resolve()
    if (event.case !== 'execution') return
    ids.add(event.value.id)
    follower.position = position
  }
}
