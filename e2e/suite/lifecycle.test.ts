import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { follow } from '@automation/testing/guide'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessTokenOf, type Answer } from '../client/client.ts'
import type { Execution, Page, Process } from '../client/records.ts'
import { runAdmin, shapeFromEnvironment } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { clientOf } from './client-of.ts'
import { GRACE_MS, restartedSystem } from './restarted-system.ts'
import { awaitEnd, awaitStatus, execute, executionOf, makeProcess } from './runs.ts'
import { schedulesAway } from './schedules-away.ts'
import { awaitFired, everySecond, firedBy, makeSchedule, timeOf } from './scheduling.ts'
import { shared } from './shared-system.ts'

/** Starting, stopping and starting again on the same data; the tests follow each other. */
describe.skipIf(!shared.owned)(
  'a system that is stopped and started again',
  { concurrent: false, timeout: 180_000 },
  () => {
    const own = restartedSystem('life')
    const { start, running, sleeper, awaitRunningOf } = own

    const schedules = schedulesAway(own)
    let backup = ''
    let secret: Process
    /** Made after the backup. */
    let late: Process
    beforeAll(async () => {
      backup = await mkdtemp(join(tmpdir(), 'automation-e2e-backups-'))
    })
    afterAll(() => rm(backup, { recursive: true, force: true }))
    const guided = () => ({ BACKUP: backup, DATA_DIR: own.dataDir })

    describe('once', () => {
      let made: Process
      let run: () => Promise<Answer>
      let answer: Answer

      beforeAll(async () => {
        const variable = { key: 'SECRET', value: 'kept', isSensitive: true }
        expect((await running().post('/variables', variable)).status).toBe(201)
        secret = await makeProcess({ sourceCode: 'return svc.env.SECRET ?? null' }, running())
        expect((await running().post(`/processes/${secret.id}/execute-sync`, {})).body).toBe('kept')
        await schedules.begin()
        made = await sleeper(2500)
        const headers = { 'idempotency-key': 'kept' }
        run = () => running().post(`/processes/${made.id}/execute-sync`, {}, { headers })
        const call = run()
        await awaitRunningOf(made.id)
        await schedules.leave()
        await own.system.stop()
        answer = await call
        await follow('backup-and-restore', 'backup-data-dir', guided())
        await schedules.pass()
        await start()
        schedules.back()
      })

      test('a sync call that runs is answered before the stop; all is kept across it, idempotency keys too', async () => {
        expect(answer.status, answer.text).toBe(203)
        const id = answer.headers.get('svc-execution-id') ?? ''
        expect((await executionOf(id, running())).status).toBe('FINISHED')
        expect((await running().get(`/processes/${made.id}`)).body).toEqual(made)
        const replay = await run()
        expect([replay.status, replay.headers.get('svc-execution-id')]).toEqual([203, id])
        expect(replay.headers.get('idempotency-replayed')).toBe('true')
      })

      schedules.tests()
    })

    test('access tokens and API tokens made before the stop stay valid', async () => {
      expect((await running().get('/team')).status).toBe(200)
      expect(await accessTokenOf(own.system.host, 'life', own.system.apiToken)).toMatch(/\./)
    })

    test('a stop under load answers or refuses every caller, and all that was accepted ends', async () => {
      const process = await sleeper(400)
      late = process
      const sync = Array.from({ length: 6 }, () => running().post(`/processes/${process.id}/execute-sync`, {}))
      const ids = await Promise.all(Array.from({ length: 12 }, () => execute(process, {}, running())))
      await Promise.all([own.system.stop(), ...sync.map((call) => call.catch(() => undefined))])
      for (const answer of await Promise.all(sync)) expect([203, 503]).toContain(answer.status)
      await start({ RUNNER_SLOTS: '2' })
      for (const id of ids) expect((await awaitEnd(id, 30_000, running())).status).toMatch(/FINISHED|ERROR/)
    })

    test('what waits in the queue at a stop waits for the next start, and runs then', async () => {
      const process = await sleeper(1500)
      const ids = await Promise.all(Array.from({ length: 5 }, () => execute(process, {}, running())))
      await awaitRunningOf(process.id)
      await own.system.stop()
      await start({ RUNNER_SLOTS: '2' })
      for (const id of ids) expect((await awaitEnd(id, 30_000, running())).status).toBe('FINISHED')
    })

    test.skipIf(shapeFromEnvironment() !== 'embedded')(
      'while a stop waits for a sync call, no firing, no queued run and no new call begins anything',
      async () => {
        const [long, short] = [await sleeper(4000), await sleeper(1500)]
        const schedule = await makeSchedule(await sleeper(1), { cron: everySecond }, running())
        await awaitFired(schedule, 1, running())
        const call = running().post(`/processes/${long.id}/execute-sync`, {})
        await awaitRunningOf(long.id)
        await awaitStatus(await execute(short, {}, running()), ({ status }) => status === 'RUNNING', 30_000, running())
        const waits = await execute(short, {}, running())
        await awaitStatus(waits, ({ status }) => status === 'QUEUED', 30_000, running())
        const held = running().post<{ executionId?: string }>(`/processes/${short.id}/execute-sync`, {})
        const areQueued = async () =>
          (await running().get<Page<Execution>>('/executions', { status: 'QUEUED' })).body.data.length === 2
        await waitUntil('both to wait', areQueued, { timeoutMs: 30_000 })
        const begun = new Date().toISOString()
        const stopped = own.system.stop()
        const unready = async () => !(await fetch(`${own.system.host}/readyz`).catch(() => undefined))?.ok
        await waitUntil('readiness to be off', unready, { timeoutMs: 60_000 })
        const quiet = new Date().toISOString()
        const late = await execute(short, {}, running()).catch(() => 'refused')
        expect((await call).status).toBe(203)
        // What it waits for goes on after the next start.
        const refused = await held
        expect([refused.status, refused.body.executionId]).toEqual([503, expect.any(String)])
        await stopped
        const ended = new Date().toISOString()
        await start()
        await running().delete(`/schedules/${schedule.id}`)
        const execution = await awaitEnd(waits, 30_000, running())
        expect([late, execution.status]).toEqual(['refused', 'FINISHED'])
        expect(timeOf(execution, 'RUNNING') > ended, `${timeOf(execution, 'RUNNING')}, stopped since ${begun}`).toBe(
          true,
        )
        const fired = (await firedBy(schedule, running())).map(({ createdAt }) => createdAt)
        expect(fired.filter((at) => at > quiet && at < ended)).toEqual([])
      },
    )

    test('a revoked API token cannot be exchanged from that moment; its access tokens stay valid unless they are to end at once', async () => {
      const admin = async (...args: string[]) => {
        const answer = await runAdmin(args, own.system.env)
        expect(answer.code, answer.stderr).toBe(0)
        return answer.stdout.trim()
      }
      const host = own.system.host
      const apiToken = await admin('tokens', 'create', 'life', '--name', 'short-lived')
      const brief = await clientOf({ host, team: 'life', apiToken })
      const [clientId = ''] = atob(apiToken.slice(3)).split(':')
      expect(await admin('tokens', 'list', 'life')).toContain(clientId)
      await admin('tokens', 'revoke', clientId)
      await expect(accessTokenOf(host, 'life', apiToken)).rejects.toThrow('401')
      expect((await brief.get('/team')).status).toBe(200)
      await admin('tokens', 'revoke', clientId, '--at-once')
      const status = async () => (await brief.get('/team')).status
      await waitUntil('the access token to end', async () => (await status()) === 401, { timeoutMs: 5000 })
    })

    test('with nothing running the stop does not take its time', () => own.system.stop(GRACE_MS / 2))

    test('the guide for backup and restore brings rows and secrets back, without what was done later', async () => {
      await rm(own.dataDir, { recursive: true })
      await follow('backup-and-restore', 'restore-data-dir', guided())
      await start()
      expect((await running().get(`/processes/${late.id}`)).status).toBe(404)
      expect((await running().post(`/processes/${secret.id}/execute-sync`, {})).body).toBe('kept')
    })
  },
)
