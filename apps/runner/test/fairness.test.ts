import { expect, test } from 'vitest'
import { startRunner } from './runner-under-test.ts'

const when = 'return performance.timeOrigin + performance.now()'

test('a team that wants many children at once leaves the next one to another team', async () => {
  const under = await startRunner({ RUNNER_SLOTS: '64', RUNNER_SPARES: '0', WALL_NONE_MANY_TEAMS: 'true' })
  const begun = (team: string, own: string) =>
    under.replica.run(`${when} // ${own}`, { spec: { team, processId: `${team}-${own}` }, run: { freshProcess: true } })
  const crowd = Array.from({ length: 30 }, (_, each) => begun('crowd', String(each)))
  const other = Number((await begun('other', 'one')).value)
  const times = (await Promise.all(crowd)).map(({ value }) => Number(value))
  expect(times.filter((time) => time < other).length).toBeLessThan(15)
  await under.stop()
})
