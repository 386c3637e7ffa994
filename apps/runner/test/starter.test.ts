import { until } from '@automation/testing'
import { expect, test } from 'vitest'
import { processesBelow, processesWith, stillRunning } from './processes.ts'
import { startRunner } from './runner-under-test.ts'

test('when what starts children is killed, runs that wait for one get it from the next', async () => {
  const under = await startRunner({ ISOLATION: 'none' })
  expect((await under.replica.run('return 0')).value).toBe(0)
  const below = (pid: string) => processesBelow(Number(pid)).length
  const launchers = processesWith('launcher.py').filter((pid) => processesBelow(process.pid).includes(pid))
  const starter = launchers.toSorted((a, b) => below(b) - below(a))[0]!
  process.kill(Number(starter), 'SIGSTOP')
  const runs = Array.from({ length: 12 }, (_, n) => under.replica.run(`return ${n + 1}`))
  // It has a child; when it ends, those before it have been read, and children for them are ordered.
  await under.replica.run('return 0')
  // Those that got a spare have ended.
  await under.settled()
  process.kill(Number(starter), 'SIGKILL')
  await until(() => stillRunning([starter]).length === 0, { what: 'it is gone' })
  const ended = await Promise.all(runs)
  expect(ended.map(({ value, explanation }) => value ?? explanation)).toEqual([...runs.keys()].map((n) => n + 1))
  expect((await under.runner.ready()).find(({ name }) => name === 'children')).toMatchObject({ ok: true })
  await under.stop()
})
