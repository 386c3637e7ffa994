import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import { EventStream } from '../client/event-stream.ts'
import type { Execution, Page, Process, Schedule } from '../client/records.ts'
import { tablesThatName } from '../system/database.ts'
import { openRegistry, type PackageRegistry } from '../system/package-registry.ts'
import { shapeFromEnvironment } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { restartedSystem } from './restarted-system.ts'
import { awaitEnd, awaitStatus, execute, executionOf, logsOf, makeProcess } from './runs.ts'
import { awaitFired, everySecond, firedBy, makeSchedule } from './scheduling.ts'
import { shared, unique } from './shared-system.ts'

/** By services: where one is cut off, and where each that takes its place is, as it finishes the same deletion. */
const crashes = [
  [
    'process-catalog',
    ['delete-after-tombstone', 'delete-after-schedules', 'delete-after-executions', 'delete-before-end'],
  ],
  // While it kills what runs.
  ['execution', ['kill-after-commit']],
] as const

/**
 * Marks by which executions and schedules are refused for good, the records of who did what, the figures of the team's use,
 * and the last changes of the team, for who comes back to its stream.
 */
const kept = [
  'execution.deleted_processes',
  'scheduler.processes',
  'catalog.audit_records',
  'execution.run_counts',
  'catalog.team_changes',
  'scheduler.team_changes',
]

/** Runs forever where it is told to, else gives what its own package says. */
const source = `console.log('said')
if (svc.context.parameters.forever) await new Promise((done) => setTimeout(done, 200_000))
return require('own')`

/** A process with all that one can have. */
interface Full {
  process: Process
  ended: string
  running: string
  schedule: Schedule
  stream: EventStream
}

async function makeFull(by: Client): Promise<Full> {
  const fields = {
    manifest: { dependencies: { own: '1.2.3' } },
    settings: { dependencies: { scopedToProcess: true } },
    webhook: { enabled: true },
    slug: unique('full'),
  }
  const process = await makeProcess({ sourceCode: source, ...fields }, by)
  expect((await by.webhook('POST', process.slug, { headers: { 'svc-version-tag': 'none' } })).status).toBe(404)
  const { body: version } = await by.post<{ id: string }>(`/processes/${process.id}/versions`, { tag: 'v1' })
  await by.post(`/processes/${process.id}/aliases`, { name: 'live', versionId: version.id })
  const ended = await execute(process, {}, by)
  expect(await awaitEnd(ended, undefined, by)).toMatchObject({ status: 'FINISHED', returnValue: '"of its own"' })
  const schedule = await makeSchedule(process, { cron: everySecond }, by)
  await awaitFired(schedule, 1, by)
  const running = await execute(process, { parameters: { forever: true } }, by)
  await awaitStatus(running, ({ status }) => status === 'RUNNING', undefined, by)
  return { process, ended, running, schedule, stream: await EventStream.open(by, running) }
}

describe.skipIf(!shared.owned || shapeFromEnvironment() !== 'services')(
  'the deletion of a process that is cut off',
  { concurrent: false, timeout: 180_000 },
  () => {
    let registry: PackageRegistry
    const restarted = restartedSystem('deletion', 'services')
    const by = () => restarted.running()

    beforeAll(async () => {
      registry = await openRegistry({ npm: { own: 'module.exports = "of its own"' }, pypi: {} })
    })
    afterAll(() => registry?.close())

    /** Whether it is gone; never may it be there again. */
    const gone = async (path: string) => {
      const { status } = await by().get(path)
      expect([404, 503], path).toContain(status)
      return status === 404
    }
    /** Whether nothing can be started of it; never may it be accepted again. */
    const refused = async (path: string) => {
      const { status } = await by().post(`${path}/execute`, {})
      expect([404, 503], path).toContain(status)
      return status === 404
    }
    const startsOf = async (service: string) => {
      const { services } = JSON.parse(await readFile(join(restarted.dataDir, 'services.json'), 'utf8')) as {
        services: Record<string, { starts: number }>
      }
      return services[service]?.starts ?? 0
    }
    const awaitGone = (path: string) =>
      waitUntil(`${path} to be gone`, async () => (await by().get(path)).status === 404, { timeoutMs: 60_000 })

    test.for(crashes)(
      'in %s, at each of its steps, is finished, and takes nothing else with it',
      async ([service, points]) => {
        await restarted.system.kill()
        await restarted.start({ ...registry.settings, FAIL_POINT: points.join() })
        const doomed = await makeFull(by())
        const other = await makeFull(by())
        const before = (await by().get<Process>(`/processes/${other.process.id}`)).body
        const { id, slug } = doomed.process

        expect((await by().delete(`/processes/${id}`)).status).toBe(503)
        const isCutOff = async () => (await startsOf(service)) > points.length
        await waitUntil(`${service} to be cut off at each step`, isCutOff, { timeoutMs: 60_000 })
        await waitUntil('the catalog to be back', () => gone(`/processes/${id}`), { timeoutMs: 30_000 })
        for (const path of [`/processes/${slug}`, `/processes/${id}/versions`, `/processes/${id}/aliases`])
          expect((await by().get(path)).status, path).toBe(404)
        for (const path of [`/processes/${id}`, `/processes/${slug}`])
          await waitUntil(`execution to know no ${path}`, () => refused(path), { timeoutMs: 30_000 })
        expect((await by().delete(`/processes/${id}`)).status).toBe(404)
        expect((await makeProcess({ slug }, by())).id).not.toBe(id)

        await awaitGone(`/executions/${doomed.running}`)
        await awaitGone(`/schedules/${doomed.schedule.id}`)
        for (const path of ['', '/logs', '/events']) await awaitGone(`/executions/${doomed.ended}${path}`)
        await doomed.stream.closed
        expect(doomed.stream.summary).not.toContain('FINISHED')
        const left = () => tablesThatName(restarted.dataDir, id, kept)
        await expect.poll(left, { timeout: 60_000, interval: 200 }).toEqual([])
        const list = await by().get<Page<Execution>>('/executions', { processId: id })
        expect(list.body.total).toBe(0)

        expect((await by().get(`/processes/${other.process.id}`)).body).toEqual(before)
        expect((await executionOf(other.ended, by())).returnValue).toBe('"of its own"')
        expect(await logsOf(other.ended, by())).toMatchObject([{ message: 'said' }])
        expect((await executionOf(other.running, by())).status).toBe('RUNNING')
        const fired = (await firedBy(other.schedule, by())).length
        await awaitFired(other.schedule, fired + 2, by())
        const again = await awaitEnd(await execute(other.process, { tag: 'live' }, by()), undefined, by())
        expect(again.returnValue).toBe('"of its own"')
        expect(await left()).toEqual([])
        // A stop would wait for what runs.
        await by().delete(`/processes/${other.process.id}`)
        await awaitGone(`/executions/${other.running}`)
        other.stream.leave()
      },
    )
  },
)
