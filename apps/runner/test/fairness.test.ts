import { Language } from '@automation/contract/common/v1/language'
import { Status } from '@automation/contract/execution/v1/execution'
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

test('runs that wait for others let their team hold so much beyond the memory of all, and no more', async () => {
  const settings = { RUNNER_CHILDREN_MEMORY_MB: '64', RUN_MEMORY_MB: '1024', RUNNER_SLOTS: '8' }
  const under = await startRunnerWith(noSpares, settings)
  const over = Promise.withResolvers<void>()
  let waiting = 0
  under.replica.onRun = async () => {
    waiting += 1
    await over.promise
    return { status: Status.FINISHED, returnValue: Buffer.from('1') }
  }
  const begin = (bytes: number, own: number) =>
    under.replica.run(
      `const held = Buffer.alloc(${bytes}, 1)\nreturn (await svc.processes.runSync("a")) * held.length // ${own}`,
      { spec: { team: 'large', processId: `large-${own}` } },
    )
  const large = [begin(450e6, 1), begin(450e6, 2)]
  const isFull = async () => waiting === 2 && (await under.metric('runner_children_memory_bytes')) > 880e6
  await until(isFull, { what: 'the memory is full' })
  large.push(begin(1, 3))
  for (const own of [1, 2, 3]) {
    const small = { team: 'small', processId: `small-${own}` }
    expect((await under.replica.run(`return ${own}`, { spec: small })).value).toBe(own)
  }
  expect(waiting).toBe(2)
  over.resolve()
  expect((await Promise.all(large)).map(({ value }) => value)).toEqual([450e6, 450e6, 1])
  await under.stop()
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
