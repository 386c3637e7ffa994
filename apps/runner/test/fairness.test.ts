import { Language } from '@automation/contract/common/v1/language'
import { until } from '@automation/testing'
import { expect, test } from 'vitest'
import { startRunner, startRunnerWith } from './runner-under-test.ts'

const noSpares = { children: { spares: 0 } }
const when = 'return performance.timeOrigin + performance.now()'

test('a team that wants many children at once leaves the next one to another team', async () => {
  const under = await startRunnerWith(noSpares, { RUNNER_SLOTS: '64', ISOLATION_MANY_TEAMS: 'true' })
  const begun = (team: string, own: string) =>
    under.replica.run(`${when} // ${own}`, { spec: { team, processId: `${team}-${own}` }, run: { freshProcess: true } })
  const crowd = Array.from({ length: 30 }, (_, each) => begun('crowd', String(each)))
  const other = Number((await begun('other', 'one')).value)
  const times = (await Promise.all(crowd)).map(({ value }) => Number(value))
  expect(times.filter((time) => time < other).length).toBeLessThan(15)
  await under.stop()
})

test('a team whose runs fill the memory keeps no other team from running', async () => {
  const settings = {
    RUNNER_CHILDREN_MEMORY_MB: '400',
    RUN_MEMORY_MB: '300',
    ISOLATION_MANY_TEAMS: 'true',
  }
  const under = await startRunnerWith(noSpares, { RUNNER_SLOTS: '64', ...settings })
  const held =
    'const held = Buffer.alloc(150e6, 1)\nawait new Promise((go) => setTimeout(go, 60_000))\nreturn held.length'
  const large = [1, 2, 3, 4].map((own) =>
    under.replica.run(`${held} // ${own}`, { spec: { team: 'large', processId: `large-${own}` } }),
  )
  const isFull = async () => (await under.metric('runner_children_memory_bytes')) > 600e6
  await until(isFull, { what: 'the memory is full' })
  // Of the other language, so that no child made for the first team is at hand.
  const small = { team: 'small', processId: 'small', language: Language.PYTHON }
  const other = under.replica.run('return 7', { spec: small }).then(({ value }) => value)
  const first = await Promise.race([other, ...large.map((run) => run.then(() => 'of the first team'))])
  expect(first).toBe(7)
  await under.stop(0)
  await Promise.all(large)
}, 40_000)

test('files in memory count to what children hold', async () => {
  const under = await startRunner({ ISOLATION: 'namespaces', RUN_TMP_MB: '128', ISOLATION_MANY_TEAMS: 'true' })
  const write = "require('fs').writeFileSync('file', Buffer.alloc(100e6, 1))"
  const run = under.replica.run(`${write}\nawait new Promise((go) => setTimeout(go, 60_000))`)
  const counts = async () => (await under.metric('runner_children_memory_bytes')) > 150e6
  await until(counts, { what: 'the file counts', timeoutMs: 20_000 })
  await under.stop(0)
  await run
}, 40_000)
