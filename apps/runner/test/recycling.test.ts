import { Status } from '@automation/contract/execution/v1/execution'
import { until } from '@automation/testing'
import { expect, test } from 'vitest'
import { run } from './python-run.ts'
import { startRunner, startRunnerWith } from './runner-under-test.ts'

const source = 'return process.pid'

test('a child ends when it is old, and the next run gets another', async () => {
  const under = await startRunnerWith({ children: { maxAgeMs: 1000 } })
  const first = (await under.replica.run(source)).value
  const others = async () => (await under.replica.run(source)).value !== first
  await until(others, { what: 'another child' })
  await under.stop()
})

test('a child ends when it has been idle for long', async () => {
  const under = await startRunnerWith({ children: { idleMs: 100 } })
  const { value } = await under.replica.run(source)
  expect(value).toBeTypeOf('number')
  const isGone = () => !isAlive(value as number)
  await until(isGone, { what: 'the child is gone' })
  await under.stop()
})

test('a child that has grown large ends', async () => {
  const under = await startRunner({ RUNNER_CHILDREN_MEMORY_MB: '400' })
  const isMeasured = async () => (await under.metric('runner_children_memory_bytes')) > 300e6
  under.replica.onRun = async () => {
    await until(isMeasured, { what: 'what it holds is known' })
    return { status: Status.FINISHED }
  }
  const grow = "const held = Buffer.alloc(300e6, 1); await svc.processes.runSync('wait'); "
  const { value } = await under.replica.run(`${grow}return held && process.pid`)
  expect(value).toBeTypeOf('number')
  await until(() => !isAlive(value as number), { what: 'the child is gone' })
  await under.stop()
})

test('many small children stay, however short their runs were', async () => {
  // Fourteen and a few spare ones fit where it is known how small they are.
  const under = await startRunner({ RUNNER_CHILDREN_MEMORY_MB: '700' })
  // While nothing runs only a few are kept, and a slow machine takes its time between two runs.
  const { ended } = under.replica.hand('await new Promise((go) => setTimeout(go, 1e6))', {
    run: { timeoutMs: 600_000 },
  })
  const found: unknown[] = []
  const areKnown = async () => {
    const heldMb = (await under.metric('runner_children_memory_bytes')) / 2 ** 20
    return heldMb < 48 * (await under.children()) - 20 * found.length
  }
  while (found.length < 14) {
    found.push((await under.replica.run(`${source} // ${found.length}`)).value)
    await until(areKnown, { what: 'it is known how small they are' })
  }
  expect(found.filter((pid) => isAlive(pid as number))).toEqual(found)
  await under.stop(0)
  await ended
})

test('runs that wait for others leave memory for a child of those', async () => {
  const under = await startRunnerWith(
    { children: { spares: 0 } },
    { RUNNER_CHILDREN_MEMORY_MB: '64', RUNNER_SLOTS: '3' },
  )
  under.replica.onRun = async () => {
    const { value } = await under.replica.run('return 7')
    return { status: Status.FINISHED, returnValue: Buffer.from(JSON.stringify(value)) }
  }
  const parents = Array.from({ length: 3 }, () => under.replica.run('return svc.processes.runSync("a")'))
  expect((await Promise.all(parents)).map(({ value }) => value)).toEqual([7, 7, 7])
  await under.stop()
})

test("what a Python program names of Python's own library its later runs find imported, and no other program's", async () => {
  const under = await startRunnerWith({ children: { spares: 0 } })
  const variables = [{ key: 'A', value: 'of the team' }]
  const look = async (rest: string) => {
    const found = '[os.getppid(), "ssl" in sys.modules, "asyncio" in sys.modules, svc.env.A]'
    // Its child may still be looking at itself; then a run gets another one.
    await under.settled()
    const { value } = await run(under, `import os, sys\nfound = ${found}\n${rest}`, { spec: { variables } })
    return value as [zygote: number, ...found: unknown[]]
  }
  const naming = 'async def main():\n    import ssl\n    return found'
  const [zygote, ...first] = await look(naming)
  expect(first).toEqual([false, false, 'of the team'])
  expect(await look(naming)).toEqual([zygote, true, true, 'of the team'])
  await look('return found')
  expect((await look('return found')).slice(1)).toEqual([false, false, 'of the team'])
  await under.stop()
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
