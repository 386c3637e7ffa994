import { afterAll, beforeAll, expect, test } from 'vitest'
import { leftovers } from './leftovers.ts'
import { startRunner, type RunnerUnderTest } from '../runner-under-test.ts'

let under: RunnerUnderTest
beforeAll(async () => {
  // Without isolation, which would refuse some of them.
  under = await startRunner({ ISOLATION: 'none' })
})
afterAll(() => under.stop())

test.for(leftovers)('%s: the child %s', async ([leftover, fate, source]) => {
  const name = `leftover-of-a-test-${process.pid}`
  const run = async (second: boolean) => {
    const parameters = { second, name }
    const { value, explanation } = await under.replica.run(`${source}\nreturn [trace, process.pid]`, { parameters })
    expect(explanation).toBeUndefined()
    await under.settled()
    return value as [unknown, number]
  }
  const [firstTrace, firstPid] = await run(false)
  const [secondTrace, secondPid] = await run(true)
  expect(secondTrace, `${leftover} is seen by the next run`).toEqual(firstTrace)
  if (fate !== 'either') expect(secondPid === firstPid ? 'goes on' : 'ends').toBe(fate)
})
