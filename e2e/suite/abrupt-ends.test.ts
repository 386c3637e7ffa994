import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import type { Process } from '../client/records.ts'
import { expectEvents, expectWho, Initiated } from './audit-events.ts'
import { clientOf } from './client-of.ts'
import { handled } from './handler-runs.ts'
import { GRACE_MS, restartedSystem } from './restarted-system.ts'
import { awaitEnd, awaitStatus, execute, expectLastWord, makeProcess } from './runs.ts'
import { schedulesAway } from './schedules-away.ts'
import { shared } from './shared-system.ts'
import { begin, complete, content, goOn, MiB, put, read } from './uploading.ts'

/** Ends that leave runs no time, and the start after them; the tests follow each other. */
describe.skipIf(!shared.owned)(
  'a system that ends abruptly and is started again',
  { concurrent: false, timeout: 180_000 },
  () => {
    const own = restartedSystem('abrupt')
    const { start, running, sleeper } = own

    test('a second signal, a second after the first, stops at once', async () => {
      const id = await execute(await sleeper(60_000), {}, running())
      await awaitStatus(id, ({ status }) => status === 'RUNNING', 40_000, running())
      own.system.process.kill('SIGTERM')
      await delay(2000)
      await own.system.stop(GRACE_MS / 2)
      await start({ SHUTDOWN_GRACE_MS: '500', RUNNER_LEASE_MS: '4000' })
      const execution = await awaitEnd(id, 40_000, running())
      expect(execution.status).toBe('ERROR')
      await expectLastWord(execution, running())
    })

    test('what still runs after the grace time ends as ERROR with the reason', async () => {
      const id = await execute(await sleeper(60_000), {}, running())
      await awaitStatus(id, ({ status }) => status === 'RUNNING', 40_000, running())
      await own.system.stop()
      await start()
      const execution = await awaitEnd(id, 40_000, running())
      expect(execution.status).toBe('ERROR')
      await expectLastWord(execution, running())
      expect(execution.timeline.events.at(-1)?.explanation).toMatch(/stopped/)
    })

    describe('a crash', () => {
      let handler: Process
      let failed: string[]
      let cut: string
      let killed: string
      let ann: Client
      let upload: string
      const parts = [randomBytes(6 * MiB), randomBytes(5 * MiB), randomBytes(77)]
      const schedules = schedulesAway(own)

      beforeAll(async () => {
        const by = running()
        upload = (await begin('kept', {}, by)).id
        expect((await put(upload, 1, parts[0]!, {}, by)).status).toBe(200)
        await schedules.begin()
        ann = await clientOf(own.system, Initiated)
        handler = await makeProcess({ sourceCode: 'return svc.context.parameters' }, by)
        const named = await by.patch('/team', { errorHandlerConfig: { processSlug: handler.slug, tag: null } })
        expect(named.status, named.text).toBe(200)
        const fails = await makeProcess({ sourceCode: 'throw new TypeError("wrong")' }, by)
        const runs = await sleeper(60_000)
        ;[cut, killed] = [await execute(runs, {}, by), await execute(runs, {}, ann)]
        for (const id of [cut, killed]) await awaitStatus(id, ({ status }) => status === 'RUNNING', 40_000, by)
        failed = await Promise.all(Array.from({ length: 12 }, () => execute(fails, {}, by)))
        await Promise.all([awaitEnd(failed[0]!, 40_000, by), schedules.leave()])
        expect((await ann.put(`/executions/${killed}/kill`)).status).toBe(202)
        await own.system.kill()
        await schedules.pass()
        await start({ RUNNER_LEASE_MS: '4000' })
        schedules.back()
      })

      test('ends what ran as ERROR with the reason', async () => {
        const execution = await awaitEnd(cut, 40_000, running())
        expect(execution.status).toBe('ERROR')
        await expectLastWord(execution, running())
        expect(execution.timeline.events.at(-1)?.explanation).toMatch(/runner lost|restart/)
      })

      test('leaves one run of the error handler for whatever fails before and by it', async () => {
        for (const id of [cut, ...failed]) expect((await awaitEnd(id, 40_000, running())).status).toBe('ERROR')
        for (const id of [cut, ...failed]) expect(await handled(handler, id, running())).toHaveLength(1)
      })

      test('leaves the audit events of what was done before', async () => {
        expectWho(await expectEvents('EXECUTION', killed, ['started', 'killed'], ann))
      })

      schedules.tests()

      test('leaves an upload with the parts that it has, and it is completed', async () => {
        const by = running()
        expect(await read(upload, by)).toMatchObject({ status: 'OPEN', receivedBytes: 6 * MiB })
        await goOn(upload, parts, by)
        expect((await complete(upload, by)).status).toBe(200)
        expect((await content('kept', by)).equals(Buffer.concat(parts))).toBe(true)
      })
    })
  },
)
