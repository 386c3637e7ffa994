import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { GRACE_MS, restartedSystem } from './restarted-system.ts'
import { awaitEnd, awaitStatus, execute, expectLastWord } from './runs.ts'
import { shared } from './shared-system.ts'

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

    test('a crash ends what ran as ERROR with the reason; what waited runs, what was accepted is there', async () => {
      const runs = await sleeper(60_000)
      const id = await execute(runs, {}, running())
      await awaitStatus(id, ({ status }) => status === 'RUNNING', 40_000, running())
      await own.system.kill()
      await start({ RUNNER_LEASE_MS: '2000' })
      const execution = await awaitEnd(id, 40_000, running())
      expect(execution.status).toBe('ERROR')
      await expectLastWord(execution, running())
      expect(execution.timeline.events.at(-1)?.explanation).toMatch(/runner lost|restart/)
    })
  },
)
